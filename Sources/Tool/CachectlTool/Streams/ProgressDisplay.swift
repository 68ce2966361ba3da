internal import CachePresentation
internal import Synchronization

/// A progress bar on stderr, drawn over itself.
final class ProgressDisplay {
  let label: String
  private let start = ContinuousClock.now
  private let line: TransientLine
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

/// A line on stderr that says how far a fetch is, from the third second on: a quicker one needs none.
final class TransferProgress: Sendable {
  private struct State {
    var done: Int?
    var total: Int?
    var hasEnded = false
  }

  private static let delay = Duration.seconds(2)

  private let start = ContinuousClock.now
  private let name: String
  private let line: TransientLine
  private let state = Mutex(State())

  /// Begins to wait for `name`, such as a server. Does nothing unless `isVisible`.
  init(of name: String, isVisible: Bool) {
    self.name = name
    line = TransientLine(isVisible: isVisible)
    guard isVisible else { return }
    Task.detached { [weak self] in
      try? await Task.sleep(for: Self.delay)
      while let self, draw() { try? await Task.sleep(for: .seconds(1)) }
    }
  }

  /// Notes that `done` bytes of `total`, if that is known, have arrived.
  func update(done: Int, total: Int?) {
    state.withLock { state in
      state.done = done
      state.total = total
    }
  }

  /// Removes the line for good.
  func finish() {
    state.withLock { state in
      line.clear()
      state.hasEnded = true
    }
  }

  /// Draws the line, and returns whether to continue.
  private func draw() -> Bool {
    state.withLock { state in
      guard !state.hasEnded else { return false }
      let progress = ProgressLine(
        state.done == nil ? "Waiting for \(name)" : name, done: state.done ?? 0, total: state.total,
        elapsed: ContinuousClock.now - start, unit: state.done == nil ? .seconds : .bytes)
      line.show(progress.text(width: Console.error.currentScreen.width ?? 80))
      return true
    }
  }
}

/// A line on stderr that is redrawn in place, and removed at the end.
struct TransientLine {
  /// Whether the line is wanted and can be seen.
  let isVisible: Bool

  /// Whether there is such a line: there is at most one at a time.
  private static let isShown = Mutex(false)

  /// The text that removes the line before anything else is written; empty if there is none.
  static func takeErasure() -> String {
    isShown.withLock { isShown in
      defer { isShown = false }
      return isShown ? erasure : ""
    }
  }

  /// Replaces the line with `text`, which must fit into one line of the terminal.
  func show(_ text: String) {
    guard isVisible else { return }
    Self.isShown.withLock { $0 = true }
    Console.error.writeIfPossible(Self.erasure + text)
  }

  /// Removes the line, if it was shown.
  func clear() {
    let erasure = Self.takeErasure()
    if !erasure.isEmpty { Console.error.writeIfPossible(erasure) }
  }

  /// "Carriage return" and "erase in line" (ECMA-48, 8.3.41), to the end of the line.
  private static let erasure = "\r\u{1B}[K"
}
