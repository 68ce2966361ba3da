internal import Synchronization

/// A value behind a lock, for whose changes tasks can wait: a condition variable for tasks.
package final class TaskMonitor<Value: Sendable>: Sendable {
  private typealias Waiter = CheckedContinuation<Void, Never>

  private struct State {
    var value: Value
    /// The number of signals so far, and of waits.
    var signals = 0, waits = 0
    var waiting: [Int: Waiter] = [:]
  }

  private let state: Mutex<State>

  package init(_ value: Value) { state = Mutex(State(value: value)) }

  /// Reads or changes the value. Those who wait for the change see it after the next signal.
  package func withLock<Output: Sendable>(_ body: (inout Value) -> Output) -> Output {
    state.withLock { body(&$0.value) }
  }

  /// Has all who wait look at the value again.
  package func signalAll() {
    let waiting = state.withLock { state in
      state.signals += 1
      defer { state.waiting = [:] }
      return state.waiting
    }
    for waiter in waiting.values { waiter.resume() }
  }

  /// The first result of `look`, which looks at the value now and after each signal; `nil` if the task is cancelled.
  package func wait<Output: Sendable>(_ look: (inout Value) -> Output?) async -> Output? {
    while !Task.isCancelled {
      let (output, signals, number) = state.withLock { state in
        state.waits += 1
        return (look(&state.value), state.signals, state.waits)
      }
      if let output { return output }
      await signal(after: signals, number)
    }
    return nil
  }

  private func signal(after signals: Int, _ number: Int) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let waits = state.withLock { state in
          // A task is marked as cancelled before its handler runs.
          guard state.signals == signals, !Task.isCancelled else { return false }
          state.waiting[number] = waiter
          return true
        }
        if !waits { waiter.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
    }
  }
}
