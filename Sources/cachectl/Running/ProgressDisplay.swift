internal import CachePresentation

/// A progress bar on the standard error, drawn over itself.
final class ProgressDisplay {
  let label: String
  private let start = ContinuousClock.now
  private var line: TransientLine
  private var lastDrawn: ContinuousClock.Instant?

  /// Draws nothing unless `isVisible`.
  init(_ label: String, isVisible: Bool) {
    self.label = label
    line = TransientLine(isVisible: isVisible)
  }

  /// Shows that `done` of `total`, where that is known, are done; at most twenty times a second.
  func update(done: Int, total: Int?) { update(done: done, total: total, item: nil) }

  /// The same, which also says that `item` is under way.
  func update(done: Int, total: Int?, item: String?) {
    let now = ContinuousClock.now
    guard line.isVisible, lastDrawn.map({ now - $0 > .milliseconds(50) }) ?? true else { return }
    lastDrawn = now
    let text = item.map { "\(label): \($0)" } ?? label
    let progress = ProgressLine(text, done: done, total: total, elapsed: now - start)
    line.show(progress.text(width: Console.error.screen.width ?? 80))
  }

  /// Removes the bar.
  func finish() { line.clear() }
}
