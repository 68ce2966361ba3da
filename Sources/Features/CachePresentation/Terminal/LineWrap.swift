/// Breaks text into lines.
enum LineWrap {
  /// `text` broken at spaces into lines of at most `width` cells; at least one line. A longer word stays whole: it may
  /// be a key or an address that people copy.
  static func lines(_ text: String, width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
      let longer = line.isEmpty ? String(word) : "\(line) \(word)"
      if !line.isEmpty, DisplayWidth.width(longer) > width {
        lines.append(line)
        line = String(word)
      } else {
        line = longer
      }
    }
    return lines + [line]
  }
}
