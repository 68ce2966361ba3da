internal import CachePresentation

/// A line on the standard error that is redrawn in place, and removed in the end.
struct TransientLine {
  /// Whether the line is wanted and can be seen.
  let isVisible: Bool
  private var isShown = false

  init(isVisible: Bool) {
    self.isVisible = isVisible
  }

  /// Replaces the line with `text`, which must fit into one line of the terminal.
  mutating func show(_ text: String) {
    guard isVisible else { return }
    isShown = true
    Console.error.writeIfPossible(Self.erasure + text)
  }

  /// Removes the line, if it was shown.
  mutating func clear() {
    if isShown { Console.error.writeIfPossible(Self.erasure) }
    isShown = false
  }

  /// "Carriage return" and "erase in line" (ECMA-48, 8.3.41), to the end of the line.
  private static let erasure = "\r\u{1B}[K"
}
