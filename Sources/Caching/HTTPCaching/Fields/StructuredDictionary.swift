/// A dictionary in structured-field syntax (RFC 8941, section 3.2), as far as cache directives need it: parameters are
/// checked and dropped.
struct StructuredDictionary: Sendable, Hashable {
  /// The value of a member.
  enum Value: Sendable, Hashable {
    case flag(Bool)
    /// The digits of an integer, with its sign.
    case integer(String)
    /// The content of a string, or a token.
    case text(String)
    /// A decimal number, bytes, or a list.
    case other
  }

  /// A key and its value.
  struct Member: Sendable, Hashable {
    let key: String
    let value: Value
  }

  /// The members. If a key occurs several times, the last one counts.
  let members: [Member]

  /// Parses `text`; `nil` if any of it is malformed.
  init?(_ text: String) {
    var parser = StructuredFieldParser(text)
    guard let members = parser.dictionary() else { return nil }
    self.members = members.enumerated().filter { index, member in
      !members[(index + 1)...].contains { $0.key == member.key }
    }.map(\.element)
  }
}
