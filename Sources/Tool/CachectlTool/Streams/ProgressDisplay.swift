internal import CachePresentation

/// A progress bar on stderr, drawn over itself.
final class ProgressDisplay {
  let label: String
  private let start = ContinuousClock.now
  private var line: TransientLine
  private var lastDrawn: ContinuousClock.Instant?
  private var lastItem: String?

  /// Draws nothing unless `isVisible`.
  init(_ label: String, isVisible: Bool) {
    self.label = label
    line = TransientLine(isVisible: isVisible)
  }

  /// Shows that `done` of `total`, if that is known, are done; at most twenty times a second.
  func update(done: Int, total: Int?) { update(done: done, total: total, item: nil) }

  /// Shows the same, and that `item` is being worked on: a new one at once, because it might take long.
  func update(done: Int, total: Int?, item: String?) {
    let now = ContinuousClock.now
    let isDue = lastDrawn.map { now - $0 > .milliseconds(50) } ?? true
    guard line.isVisible, isDue || item != lastItem else { return }
    lastDrawn = now
    lastItem = item
    let text = item.map { "\(label): \($0)" } ?? label
    let progress = ProgressLine(text, done: done, total: total, elapsed: now - start)
    line.show(progress.text(width: Console.error.currentScreen.width ?? 80))
  }

  /// Removes the bar.
  func finish() { line.clear() }
}

/// A line on stderr that is redrawn in place, and finally removed.
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
