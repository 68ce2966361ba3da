internal import Base

/// The directives of `Cache-Control` fields (RFC 9111, section 5.2).
package struct CacheControl: Sendable, Hashable {
  /// A directive and its argument.
  private struct Directive: Sendable, Hashable {
    let name: String
    let argument: String?
    /// The argument, if the directive takes a number of seconds.
    let seconds: SecondsArgument

    init(_ name: String, _ argument: String? = nil, seconds: Duration? = nil) {
      self.name = name
      self.argument = argument
      self.seconds = seconds.map(SecondsArgument.valid) ?? .malformed
    }
  }

  private let directives: [Directive]

  /// Reads the directives of the lines `values`, in order.
  init(_ values: [String]) {
    directives = values.flatMap(FieldList.members).map(Self.directive)
  }

  /// Reads the directives of `fields`.
  package init(_ fields: HTTPFields) {
    self.init(fields.values(of: "cache-control"))
  }

  /// Reads the directives of `dictionary`: seconds are integers, lists of names are strings, and flags are set or not.
  init(_ dictionary: StructuredDictionary) {
    directives = dictionary.members.compactMap { member in
      switch member.value {
      case .flag(let isSet): isSet ? Directive(member.key) : nil
      case .integer(let digits): Directive(member.key, digits, seconds: DeltaSeconds.duration(digits))
      case .text(let text): Directive(member.key, text)
      case .other: Directive(member.key)
      }
    }
  }

  /// Whether there are no directives.
  var isEmpty: Bool { directives.isEmpty }

  /// Whether the directive `name` is present, with or without an argument.
  package func contains(_ name: String) -> Bool {
    directives.contains { $0.name == name }
  }

  /// The argument of the first directive `name`, in seconds (RFC 9111, section 4.2.1).
  func seconds(_ name: String) -> SecondsArgument {
    directives.first { $0.name == name }?.seconds ?? .absent
  }

  /// The field names to which the directive `name` is restricted, in lower case; empty if it applies to the whole
  /// response, `nil` if it is absent.
  func fieldNames(_ name: String) -> [String]? {
    let found = directives.filter { $0.name == name }
    guard !found.isEmpty else { return nil }
    let isRestricted = found.allSatisfy { $0.argument != nil }
    return isRestricted ? found.flatMap { FieldList.names($0.argument ?? "") } : []
  }

  private static func directive(_ member: Substring) -> Directive {
    guard let equals = member.firstIndex(of: "=") else { return Directive(member.lowercased()) }
    let argument = unquoted(member[member.index(after: equals)...])
    return Directive(member[..<equals].lowercased(), argument, seconds: DeltaSeconds.duration(argument))
  }

  private static func unquoted(_ text: Substring) -> String {
    guard text.count >= 2, text.first == "\"", text.last == "\"" else { return String(text) }
    var (content, isEscaped) = ("", false)
    for character in text.dropFirst().dropLast() {
      if character == "\\", !isEscaped {
        isEscaped = true
      } else {
        content.append(character)
        isEscaped = false
      }
    }
    return content
  }
}

/// The argument of a directive that takes a number of seconds.
enum SecondsArgument: Sendable, Hashable {
  /// The directive is absent.
  case absent
  /// The directive has no argument, or one that is not a number of seconds.
  case malformed
  /// The argument.
  case valid(Duration)

  /// The argument, if it is valid.
  var duration: Duration? {
    if case .valid(let duration) = self { duration } else { nil }
  }
}

/// `CDN-Cache-Control` (RFC 9213): directives for shared caches, which replace `Cache-Control` and `Expires`.
enum TargetedCacheControl {
  /// The directives for shared caches in `fields`; `nil` if the field is absent, empty or malformed. RFC 9213, section
  /// 2.1, tells caches to ignore a malformed field altogether.
  static func directives(_ fields: HTTPFields) -> CacheControl? {
    guard let value = fields["cdn-cache-control"], let dictionary = StructuredDictionary(value),
      !dictionary.members.isEmpty
    else { return nil }
    return CacheControl(dictionary)
  }
}

/// A number of seconds in a header field (RFC 9111, section 1.2.2).
package enum DeltaSeconds {
  /// Replaces any larger number, as the RFC says: 2^31 seconds, about 68 years.
  static let greatest: Int64 = 2_147_483_648

  /// The duration that `text` writes: ASCII digits and nothing else; `nil` if it is anything else.
  package static func duration(_ text: some StringProtocol) -> Duration? {
    let digits = text.utf8
    guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit) else { return nil }
    // A number with too many digits for an integer is still a large number.
    return .seconds(min(Int64(text) ?? greatest, greatest))
  }
}
