/// Makes foreign JSON lines safe to show on a terminal.
public enum JSONLines {
  /// `lines` with JSON escapes for all characters that could act on a terminal (see `TerminalText.isHarmful`). The
  /// meaning is unchanged: apart from line ends, such characters can only occur in strings. Cost: one pass.
  public static func safe(_ lines: [UInt8]) -> [UInt8] {
    guard !lines.allSatisfy({ 0x20..<0x7F ~= $0 || $0 == 0x0A }) else { return lines }
    var safe = ""
    for scalar in String(decoding: lines, as: UTF8.self).unicodeScalars {
      if TerminalText.isHarmful(scalar), scalar != "\n" {
        safe += JSONText.escape(scalar)
      } else {
        safe.unicodeScalars.append(scalar)
      }
    }
    return Array(safe.utf8)
  }
}
