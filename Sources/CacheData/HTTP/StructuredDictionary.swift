/// A dictionary of structured fields (RFC 8941, section 3.2), as far as directives for caches need it: parameters are
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

  /// The members, of which the last with a key is the one that counts.
  let members: [Member]

  /// The dictionary that `text` writes; `nil` where it is malformed anywhere.
  init?(_ text: String) {
    var parser = StructuredFieldParser(text)
    guard let members = parser.dictionary() else { return nil }
    self.members = members.enumerated().filter { index, member in
      !members[(index + 1)...].contains { $0.key == member.key }
    }.map(\.element)
  }
}
