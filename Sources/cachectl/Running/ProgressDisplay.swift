internal import CachePresentation

/// A progress bar on the standard error, drawn over itself.
final class ProgressDisplay {
  private let label: String
  private let isVisible: Bool
  private let start = ContinuousClock.now
  private var lastDrawn: ContinuousClock.Instant?

  /// Draws nothing unless `isVisible`.
  init(_ label: String, isVisible: Bool) {
    self.label = label
    self.isVisible = isVisible
  }

  /// Shows that `done` of `total` are done; at most twenty times a second.
  func update(done: Int, total: Int) {
    let now = ContinuousClock.now
    guard isVisible, lastDrawn.map({ now - $0 > .milliseconds(50) }) ?? true else { return }
    lastDrawn = now
    let line = ProgressLine(label, done: done, total: total, elapsed: now - start)
    Console.error.writeIfPossible("\r" + line.text(width: Console.error.screen.width ?? 80))
  }

  /// Removes the bar.
  func finish() {
    if lastDrawn != nil { Console.error.writeIfPossible("\r\u{1B}[K") }
  }
}
