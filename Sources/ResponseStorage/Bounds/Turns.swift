internal import Synchronization

/// Lets one task at a time do something that may suspend; the others wait without keeping a thread.
final class Turns: Sendable {
  private struct State {
    var isTaken = false
    var waiting: [CheckedContinuation<Bool, Never>] = []
  }

  private let state = Mutex(State())

  /// Waits for a turn, and says whether others had theirs meanwhile. Who takes one gives it back.
  func take() async -> Bool {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.isTaken { state.waiting.append(continuation) }
        defer { state.isTaken = true }
        return !state.isTaken
      }
      if isFree { continuation.resume(returning: false) }
    }
  }

  /// Gives the turn to whoever has waited the longest.
  func give() {
    let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.isTaken = false
      return nil
    }
    next?.resume(returning: true)
  }
}
