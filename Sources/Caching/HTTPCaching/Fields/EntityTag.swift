/// An entity tag (RFC 9110, section 8.8.3).
struct EntityTag: Sendable, Hashable {
  /// The tag with its quotation marks, but without the `W/` prefix.
  let opaque: String
  /// Whether the tag stands for equivalent content rather than for the same bytes.
  let isWeak: Bool

  /// Reads the tag `text`. Also accepts tags without quotation marks, as some servers send them.
  init(_ text: some StringProtocol) {
    isWeak = text.hasPrefix("W/")
    opaque = String(isWeak ? text.dropFirst(2)[...] : text[...])
  }

  /// The tags in a list; a lone `*` gets no special treatment. A backslash in a tag is an ordinary character.
  static func list(_ value: String) -> [EntityTag] {
    FieldList.split(value[...], at: UInt8(ascii: ","), isEscaping: false).map { EntityTag($0) }
  }

  /// Whether both tags stand for the same bytes.
  func matchesStrongly(_ other: EntityTag) -> Bool {
    !isWeak && !other.isWeak && opaque == other.opaque
  }

  /// Whether both tags stand for equivalent content.
  func matchesWeakly(_ other: EntityTag) -> Bool {
    opaque == other.opaque
  }
}
