internal import CacheBase

/// Lists in the values of header fields (RFC 9110, section 5.6.1).
package enum FieldList {
  /// The members of `value`, split at commas outside quoted strings and trimmed. Leaves out empty members.
  ///
  /// - Parameter isEscaping: whether a backslash in a quoted string escapes the next character.
  package static func members(_ value: String, isEscaping: Bool = true) -> [Substring] {
    // Uses no other collection types: the runtime would have to build them during every hit.
    var members: [Substring] = []
    read(value, isEscaping: isEscaping) { member, _ in
      if !member.isEmpty { members.append(member) }
    }
    return members
  }

  /// Calls `body` with each member of `value`, trimmed and perhaps empty, and whether a quoted string in it, or before it,
  /// is malformed: from that one's quotation mark on, every comma counts.
  ///
  /// - Parameter isStrict: whether a quoted string must follow an equals sign and end before a comma. Otherwise it only has
  ///   to end.
  static func read(
    _ value: String, isEscaping: Bool = true, isStrict: Bool = false,
    _ body: (_ member: Substring, _ isMalformed: Bool) -> Void
  ) {
    let bytes = value.utf8
    var start = bytes.startIndex
    var index = start
    var isMalformed = false
    var previous: UInt8?
    while index < bytes.endIndex {
      let byte = bytes[index]
      if byte == UInt8(ascii: ",") {
        body(trimmed(value[start..<index]), isMalformed)
        start = bytes.index(after: index)
      } else if byte == UInt8(ascii: "\""), !isMalformed {
        let canBegin = !isStrict || previous == UInt8(ascii: "=")
        let end = canBegin ? endOfQuotedString(bytes, from: index, isEscaping: isEscaping, isStrict: isStrict) : nil
        isMalformed = end == nil
        index = end ?? index
      }
      previous = byte
      index = bytes.index(after: index)
    }
    body(trimmed(value[start...]), isMalformed)
  }

  /// The position of the quotation mark that ends the quoted string at `start`; `nil` if there is none.
  private static func endOfQuotedString(
    _ bytes: String.UTF8View, from start: String.Index, isEscaping: Bool, isStrict: Bool
  ) -> String.Index? {
    var index = bytes.index(after: start)
    var isEscaped = false
    while index < bytes.endIndex, isEscaped || bytes[index] != UInt8(ascii: "\"") {
      isEscaped = isEscaping && !isEscaped && bytes[index] == UInt8(ascii: "\\")
      index = bytes.index(after: index)
    }
    guard index < bytes.endIndex else { return nil }
    let next = bytes[bytes.index(after: index)...].first { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
    return !isStrict || next == nil || next == UInt8(ascii: ",") ? index : nil
  }

  /// `text` without surrounding white space.
  package static func trimmed(_ text: Substring) -> Substring {
    let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    var text = text.drop(while: isSpace)
    while let last = text.last, isSpace(last) { text.removeLast() }
    return text
  }

  /// The names in `value`, in lower case, as in a `Vary` or `Connection` field.
  static func names(_ value: String) -> [String] {
    members(value).map { $0.lowercased() }
  }
}

extension HTTP.Fields {
  /// The names in the list that is the value of the field `name`, in lower case; empty if there is no such field.
  func names(in name: String) -> [String] { self[name].map(FieldList.names) ?? [] }

  /// Whether there is a validator, which allows to revalidate a response with the origin.
  var hasValidator: Bool { contains("etag") || contains("last-modified") }

  /// The media type in `Content-Type`, in lower case and without parameters; `nil` if there is none.
  package var mediaType: String? {
    self["content-type"].map { FieldList.trimmed($0.prefix { $0 != ";" && $0 != "," }).lowercased() }
  }

  /// Fields that always belong to a connection rather than to the message (RFC 9110, section 7.6.1).
  private static let connectionFields: Set = [
    "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
  ]

  /// The names of such fields in lower case: the fixed ones, and the ones that `Connection` names.
  var connectionFields: Set<String> { Self.connectionFields.union(names(in: "connection")) }
}

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
    FieldList.members(value, isEscaping: false).map { EntityTag($0) }
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

/// A number of seconds in a header field (RFC 9111, section 1.2.2).
package enum DeltaSeconds {
  /// Replaces any larger number, as the RFC says: 2^31 seconds, about 68 years.
  private static let greatest: Int64 = 2_147_483_648

  /// The duration that `text` writes: ASCII digits and nothing else; `nil` if it is anything else.
  package static func duration(_ text: some StringProtocol) -> Duration? {
    let digits = text.utf8
    guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit) else { return nil }
    // A number with too many digits for an integer is still a large number.
    return .seconds(min(Int64(text) ?? greatest, greatest))
  }
}
