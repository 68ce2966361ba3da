internal import Synchronization

/// Lets one task at a time do something that may suspend. The others wait without blocking a thread.
final class Turns: Sendable {
  private struct State {
    var isTaken = false
    var waiting: [CheckedContinuation<Bool, Never>] = []
  }

  private let state = Mutex(State())

  /// Waits for a turn, and returns whether it had to wait for another task's turn. The caller must give the turn back.
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

  /// Gives the turn to the task that has waited longest.
  func give() {
    let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.isTaken = false
      return nil
    }
    next?.resume(returning: true)
  }
}
