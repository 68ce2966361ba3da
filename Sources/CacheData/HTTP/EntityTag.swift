/// An entity tag (RFC 9110, section 8.8.3).
struct EntityTag: Sendable, Hashable {
  /// The tag with its quotation marks and without the mark of weakness.
  let opaque: String
  /// Whether it names equivalent content rather than the same bytes.
  let isWeak: Bool

  /// The tag that `text` writes. Servers that leave out the quotation marks are understood.
  init(_ text: some StringProtocol) {
    isWeak = text.hasPrefix("W/")
    opaque = String(isWeak ? text.dropFirst(2)[...] : text[...])
  }

  /// The tags in a list of them, without regard to a sole `*`. In a tag no character escapes another.
  static func list(_ value: String) -> [EntityTag] {
    FieldList.split(value[...], at: UInt8(ascii: ","), isEscaping: false).map { EntityTag($0) }
  }

  /// Whether both name the same bytes.
  func matchesStrongly(_ other: EntityTag) -> Bool {
    !isWeak && !other.isWeak && opaque == other.opaque
  }

  /// Whether both name equivalent content.
  func matchesWeakly(_ other: EntityTag) -> Bool {
    opaque == other.opaque
  }
}
