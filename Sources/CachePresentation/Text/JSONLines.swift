/// Makes lines of JSON that were written elsewhere safe to be shown on a terminal.
public enum JSONLines {
  /// `lines` with every character that could act on a terminal (see `TerminalText.isHarmful`) as an escape of JSON. It
  /// means the same: but for line ends, such characters can stand within strings only. Cost: one pass.
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
