/// The directives of `Cache-Control` fields (RFC 9111, section 5.2).
struct CacheControl: Sendable, Hashable {
  /// A directive and its argument.
  private struct Directive: Sendable, Hashable {
    let name: String
    let argument: String?
    let isQuoted: Bool
  }

  private let directives: [Directive]

  /// The directives of the lines `values`, in order.
  init(_ values: [String]) {
    directives = values.flatMap(FieldList.members).map(Self.directive)
  }

  /// The directives of `fields`.
  init(_ fields: HTTPFields) {
    self.init(fields.values(of: "cache-control"))
  }

  /// Whether there are none.
  var isEmpty: Bool { directives.isEmpty }

  /// Whether the directive `name` is there, with whatever argument.
  func contains(_ name: String) -> Bool {
    directives.contains { $0.name == name }
  }

  /// The argument of the directive `name` in seconds: of the first such directive, as RFC 9111, section 4.2.1, has it.
  func seconds(_ name: String) -> SecondsArgument {
    guard let directive = directives.first(where: { $0.name == name }) else { return .absent }
    return directive.argument.flatMap(DeltaSeconds.duration).map(SecondsArgument.valid) ?? .malformed
  }

  /// The names of fields that the directive `name` is restricted to, in lower case; `nil` where it is not there, empty
  /// where it holds for the whole response.
  func fieldNames(_ name: String) -> [String]? {
    let found = directives.filter { $0.name == name }
    guard !found.isEmpty else { return nil }
    let isRestricted = found.allSatisfy { $0.isQuoted || $0.argument != nil }
    return isRestricted ? found.flatMap { FieldList.names($0.argument ?? "") } : []
  }

  private static func directive(_ member: Substring) -> Directive {
    guard let equals = member.firstIndex(of: "=") else {
      return Directive(name: member.lowercased(), argument: nil, isQuoted: false)
    }
    let (argument, isQuoted) = unquoted(member[member.index(after: equals)...])
    return Directive(name: member[..<equals].lowercased(), argument: argument, isQuoted: isQuoted)
  }

  private static func unquoted(_ text: Substring) -> (String, Bool) {
    guard text.count >= 2, text.first == "\"", text.last == "\"" else { return (String(text), false) }
    var (content, isEscaped) = ("", false)
    for character in text.dropFirst().dropLast() {
      if character == "\\", !isEscaped {
        isEscaped = true
      } else {
        content.append(character)
        isEscaped = false
      }
    }
    return (content, true)
  }
}

/// The argument of a directive that takes a number of seconds.
enum SecondsArgument: Sendable, Hashable {
  /// The directive is not there.
  case absent
  /// The directive has no argument, or one that is no number of seconds.
  case malformed
  /// The argument.
  case valid(Duration)

  /// The argument, where there is a valid one.
  var duration: Duration? {
    if case .valid(let duration) = self { duration } else { nil }
  }
}
