internal import Base

/// Writes JSON (RFC 8259) in UTF-8.
///
/// Besides what JSON requires, it escapes characters that could act on a terminal (see `TerminalText.isHarmful`), so
/// that its output can be shown there unchanged. Cost: linear, one pass.
public enum JSONText {
  /// The layout of a document.
  public enum Layout: Sendable, Hashable {
    /// On one line, without spaces.
    case compact
    /// One member or element per line, indented by two spaces.
    case pretty
  }

  /// The text of `value`, without a final line end.
  public static func text(_ value: JSONValue, _ layout: Layout = .compact) -> String {
    var bytes: [UInt8] = []
    append(value, layout, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends the text of `value`, without a final line end, to `bytes`.
  public static func append(_ value: JSONValue, _ layout: Layout = .compact, to bytes: inout [UInt8]) {
    var writer = Writer(bytes: bytes, isPretty: layout == .pretty)
    bytes = []
    writer.write(value)
    bytes = writer.bytes
  }

  /// The state of writing one document.
  private struct Writer {
    var bytes: [UInt8]
    let isPretty: Bool
    var depth = 0

    mutating func write(_ value: JSONValue) {
      switch value {
      case .null: bytes.append(contentsOf: "null".utf8)
      case .boolean(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
      case .integer(let number): bytes.append(contentsOf: String(number).utf8)
      case .double(let number): bytes.append(contentsOf: (number.isFinite ? "\(number)" : "null").utf8)
      case .string(let text): write(text)
      case .array(let elements): list(elements, "[", "]") { writer, element in writer.write(element) }
      case .object(let members): list(members, "{", "}") { writer, member in writer.write(member) }
      }
    }

    private mutating func write(_ member: JSONValue.Member) {
      write(member.name)
      bytes.append(UInt8(ascii: ":"))
      if isPretty { bytes.append(UInt8(ascii: " ")) }
      write(member.value)
    }

    private mutating func list<Item>(
      _ items: [Item], _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ write: (inout Writer, Item) -> Void
    ) {
      bytes.append(UInt8(ascii: open))
      depth += 1
      for (index, item) in items.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        breakLine()
        write(&self, item)
      }
      depth -= 1
      if !items.isEmpty { breakLine() }
      bytes.append(UInt8(ascii: close))
    }

    private mutating func breakLine() {
      guard isPretty else { return }
      bytes.append(UInt8(ascii: "\n"))
      bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    }

    private mutating func write(_ text: String) {
      bytes.append(UInt8(ascii: "\""))
      if text.utf8.allSatisfy({ 0x20..<0x7F ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
        bytes.append(contentsOf: text.utf8)
      } else {
        for scalar in text.unicodeScalars { write(scalar) }
      }
      bytes.append(UInt8(ascii: "\""))
    }

    private mutating func write(_ scalar: Unicode.Scalar) {
      switch scalar {
      case "\"": bytes.append(contentsOf: "\\\"".utf8)
      case "\\": bytes.append(contentsOf: "\\\\".utf8)
      case "\n": bytes.append(contentsOf: "\\n".utf8)
      case "\r": bytes.append(contentsOf: "\\r".utf8)
      case "\t": bytes.append(contentsOf: "\\t".utf8)
      case _ where TerminalText.isHarmful(scalar): bytes.append(contentsOf: JSONText.escape(scalar).utf8)
      default: bytes.append(contentsOf: scalar.utf8)
      }
    }
  }

  /// The escape of a harmful character. They are all below U+10000, so four digits are enough.
  static func escape(_ scalar: Unicode.Scalar) -> String {
    "\\u" + Hexadecimal.text(UInt16(truncatingIfNeeded: scalar.value))
  }
}
