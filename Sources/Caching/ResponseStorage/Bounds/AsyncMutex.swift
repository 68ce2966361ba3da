internal import Synchronization

/// A mutex that a task may hold while it suspends. The others wait in the order of their calls, without blocking a
/// thread.
final class AsyncMutex: Sendable {
  private struct State {
    var isLocked = false
    var waiting: [CheckedContinuation<Bool, Never>] = []
  }

  private let state = Mutex(State())

  /// Locks the mutex, and returns whether it had to wait for another task. The caller must unlock it.
  @discardableResult func lock() async -> Bool {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.isLocked { state.waiting.append(continuation) }
        defer { state.isLocked = true }
        return !state.isLocked
      }
      if isFree { continuation.resume(returning: false) }
    }
  }

  /// Unlocks the mutex, or hands it to the task that has waited longest.
  func unlock() {
    let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.isLocked = false
      return nil
    }
    next?.resume(returning: true)
  }
}
