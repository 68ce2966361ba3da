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
  ///
  /// Malformed text never hides a restriction: of a directive that is malformed, or that follows a malformed quoted
  /// string, the name counts if it restricts the cache, and otherwise nothing.
  init(_ values: [String]) {
    var directives: [Directive] = []
    for value in values { Self.read(value, into: &directives) }
    self.directives = directives
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
  /// response, also because its argument is not a list of names; `nil` if it is absent.
  func fieldNames(_ name: String) -> [String]? {
    let found = directives.filter { $0.name == name }
    guard !found.isEmpty else { return nil }
    let names = found.flatMap { FieldList.names($0.argument ?? "") }
    return found.allSatisfy { $0.argument != nil } && names.allSatisfy(HTTPSyntax.isToken) ? names : []
  }

  /// Directives that restrict the cache, or make a response stale if their argument is malformed.
  private static let restrictions: Set = [
    "no-store", "no-cache", "private", "must-revalidate", "proxy-revalidate", "max-age", "s-maxage",
  ]

  /// Splits `line` at commas outside quoted strings. A quoted string begins after an equals sign and ends before a comma;
  /// from any other quotation mark on, every comma counts.
  private static func read(_ line: String, into directives: inout [Directive]) {
    let bytes = line.utf8
    var (start, index, isMalformed, isArgument) = (bytes.startIndex, bytes.startIndex, false, false)
    while index < bytes.endIndex {
      let byte = bytes[index]
      if byte == UInt8(ascii: ",") {
        directive(line[start..<index], isMalformed).map { directives.append($0) }
        start = bytes.index(after: index)
      } else if byte == UInt8(ascii: "\""), !isMalformed {
        let end = isArgument ? endOfQuotedString(bytes, from: index) : nil
        isMalformed = end == nil
        index = end ?? index
      }
      isArgument = byte == UInt8(ascii: "=")
      index = bytes.index(after: index)
    }
    directive(line[start...], isMalformed).map { directives.append($0) }
  }

  /// The position of the quotation mark that ends the quoted string at `start`; `nil` if the string does not end, or if
  /// anything but a comma follows it.
  private static func endOfQuotedString(_ bytes: String.UTF8View, from start: String.Index) -> String.Index? {
    var (index, isEscaped) = (bytes.index(after: start), false)
    while index < bytes.endIndex, isEscaped || bytes[index] != UInt8(ascii: "\"") {
      isEscaped = !isEscaped && bytes[index] == UInt8(ascii: "\\")
      index = bytes.index(after: index)
    }
    guard index < bytes.endIndex else { return nil }
    let isSpace: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    guard let next = bytes[bytes.index(after: index)...].first(where: { !isSpace($0) }) else { return index }
    return next == UInt8(ascii: ",") ? index : nil
  }

  private static func directive(_ member: Substring, _ isMalformed: Bool) -> Directive? {
    let member = FieldList.trimmed(member)
    guard let start = member.utf8.firstIndex(where: HTTPSyntax.isTokenByte) else { return nil }
    let end = member.utf8[start...].firstIndex { !HTTPSyntax.isTokenByte($0) } ?? member.endIndex
    let (name, rest) = (member[start..<end].lowercased(), member[end...])
    guard !isMalformed, start == member.startIndex, rest.isEmpty || rest.utf8.first == UInt8(ascii: "=") else {
      return restrictions.contains(name) ? Directive(name) : nil
    }
    if rest.isEmpty { return Directive(name) }
    let argument = unquoted(rest.dropFirst())
    return Directive(name, argument, seconds: DeltaSeconds.duration(argument))
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
