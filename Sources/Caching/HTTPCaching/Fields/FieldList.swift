/// The members of a list in the value of a header field (RFC 9110, section 5.6.1).
package enum FieldList {
  /// The members of `value`, split at commas outside quoted strings and trimmed. Leaves out empty members.
  package static func members(_ value: String) -> [Substring] {
    split(value[...], at: UInt8(ascii: ","))
  }

  /// The parts of `text`, split at separators outside quoted strings and trimmed. Leaves out empty parts. A backslash
  /// escapes the next character in a quoted string, if `isEscaping`. A quoted string that does not end hides no
  /// separator.
  static func split(_ text: Substring, at separator: UInt8, isEscaping: Bool = true) -> [Substring] {
    // Uses no other collection types: the runtime would have to build them during every hit.
    var parts: [Substring] = []
    var (start, index, isQuoted, isEscaped) = (text.startIndex, text.startIndex, false, false)
    var (mark, isLiteral) = (text.startIndex, false)
    while index < text.endIndex || isQuoted {
      if index == text.endIndex { (index, isQuoted, isEscaped, isLiteral) = (mark, false, false, true) }
      let byte = text.utf8[index]
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\""), !isLiteral {
        isQuoted.toggle()
        mark = index
      } else if isEscaping, isQuoted, byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if !isQuoted, byte == separator {
        add(text[start..<index], to: &parts)
        start = text.utf8.index(after: index)
      }
      index = text.utf8.index(after: index)
    }
    add(text[start...], to: &parts)
    return parts
  }

  private static func add(_ part: Substring, to parts: inout [Substring]) {
    let part = trimmed(part)
    if !part.isEmpty { parts.append(part) }
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

/// Header fields that belong to a connection rather than to the message (RFC 9110, section 7.6.1).
enum ConnectionFields {
  private static let always: Set = [
    "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
  ]

  /// The names of such fields in `fields`, in lower case: the fixed ones, and the ones that `Connection` names.
  static func names(of fields: HTTPFields) -> Set<String> {
    always.union(FieldList.names(fields.values(of: "connection").joined(separator: ",")))
  }
}
