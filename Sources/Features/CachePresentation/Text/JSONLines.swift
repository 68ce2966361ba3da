internal import Base

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
