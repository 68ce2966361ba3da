/// Writes JSON (RFC 8259) in UTF-8.
///
/// Besides what JSON requires, it escapes characters that could act on a terminal (see `TerminalText.isHarmful`), so
/// that its output can be shown there unchanged. Cost: linear.
public enum JSONText {
  /// The text of `value`, without a final line end.
  public static func text(_ value: JSONValue, _ layout: JSONWriter.Layout = .compact) -> String {
    String(decoding: bytes(of: value, layout), as: UTF8.self)
  }

  /// Appends the text of `value`, without a final line end, to `bytes`.
  public static func append(_ value: JSONValue, _ layout: JSONWriter.Layout = .compact, to bytes: inout [UInt8]) {
    bytes += Self.bytes(of: value, layout)
  }

  private static func bytes(of value: JSONValue, _ layout: JSONWriter.Layout) -> [UInt8] {
    var json = JSONWriter(layout: layout)
    value.write(to: &json)
    return JSONLines.safe(json.bytes)
  }
}

extension JSONValue {
  fileprivate func write(to json: inout JSONWriter) {
    switch self {
    case .null: json.null()
    case .boolean(let value): json.boolean(value)
    case .integer(let number): json.integer(number)
    case .double(let number): json.number(number)
    case .string(let text): json.text(text)
    case .array(let elements): json.array(elements) { json, element in element.write(to: &json) }
    case .object(let members):
      json.object { json in
        for member in members {
          json.name(member.name)
          member.value.write(to: &json)
        }
      }
    }
  }
}

/// Makes JSON lines safe to show on a terminal.
public enum JSONLines {
  /// `lines` with JSON escapes for all characters that could act on a terminal (see `TerminalText.isHarmful`). The
  /// meaning is unchanged: apart from line ends, such characters can only occur in strings. Cost: one pass if there are
  /// none.
  public static func safe(_ lines: [UInt8]) -> [UInt8] {
    if lines.allSatisfy({ 0x20..<0x7F ~= $0 || $0 == 0x0A }) { return lines }
    let text = String(decoding: lines, as: UTF8.self)
    guard text.unicodeScalars.contains(where: isEscaped) else { return Array(text.utf8) }
    var safe: [UInt8] = []
    for scalar in text.unicodeScalars {
      if isEscaped(scalar) { safe += escape(scalar).utf8 } else { safe += scalar.utf8 }
    }
    return safe
  }

  private static func isEscaped(_ scalar: Unicode.Scalar) -> Bool { TerminalText.isHarmful(scalar) && scalar != "\n" }

  /// The escape of a harmful character. They are all below U+10000, so four digits are enough.
  private static func escape(_ scalar: Unicode.Scalar) -> String {
    "\\u" + Hexadecimal.text(UInt16(truncatingIfNeeded: scalar.value))
  }
}

/// Reformats JSON text for people.
public enum JSONIndent {
  /// The JSON text `text` with one member or element per line, indented by two spaces; `nil` if its brackets do not
  /// match or a string does not end.
  ///
  /// Looks only at the characters: numbers keep their digits and strings their escapes, and nothing else is checked.
  /// Cost: linear, plus the indentation.
  public static func indented(_ text: String) -> String? {
    var bytes: [UInt8] = []
    var closers: [UInt8] = []
    var isInString = false
    var isEscaped = false
    func breakLine() {
      bytes.append(UInt8(ascii: "\n"))
      bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * closers.count))
    }
    for byte in text.utf8 {
      if isInString {
        bytes.append(byte)
        isInString = isEscaped || byte != UInt8(ascii: "\"")
        isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        continue
      }
      if " \n\r\t".utf8.contains(byte) { continue }
      // An empty pair stays on its line.
      let isJustOpened = bytes.last == UInt8(ascii: "{") || bytes.last == UInt8(ascii: "[")
      let isCloser = byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
      if isCloser, closers.popLast() != byte { return nil }
      if isCloser != isJustOpened { breakLine() }
      bytes.append(byte)
      switch byte {
      case UInt8(ascii: "{"): closers.append(UInt8(ascii: "}"))
      case UInt8(ascii: "["): closers.append(UInt8(ascii: "]"))
      case UInt8(ascii: ","): breakLine()
      case UInt8(ascii: ":"): bytes.append(UInt8(ascii: " "))
      case UInt8(ascii: "\""): isInString = true
      default: break
      }
    }
    return closers.isEmpty && !isInString && !bytes.isEmpty ? String(decoding: bytes, as: UTF8.self) : nil
  }
}
