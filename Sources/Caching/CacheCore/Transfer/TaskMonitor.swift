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

  /// Replaces the value, and has all who wait look at it.
  func set(_ value: Value) {
    withLock { $0 = value }
    signalAll()
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

  /// Waits until `condition` holds, even if the task is cancelled. Cost: a lock if it holds already, otherwise a task.
  package func waitAlways(_ condition: @escaping @Sendable (Value) -> Bool) async {
    if withLock({ condition($0) }) { return }
    await Task { _ = await wait { condition($0) ? true : nil } }.value
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

/// Lets a limited number of tasks work at the same time. The others wait for their turn, first come, first served, without
/// blocking a thread.
final class TurnQueue: Sendable {
  private struct State {
    var free: Int
    /// A place for each task that waits: it is its turn once the value is `true`.
    var waiting: [TaskMonitor<Bool>] = []
  }

  private let state: Mutex<State>

  /// A queue with `count` turns, 1 or more.
  init(_ count: Int) { state = Mutex(State(free: count)) }

  /// Waits for a turn, and returns whether it had to wait. The caller must give the turn back.
  ///
  /// - Throws: `CacheError` with the code `cancelled`; then there is nothing to give back.
  func take() async throws(CacheError) -> Bool {
    let place: TaskMonitor<Bool>? = state.withLock { state in
      if state.free > 0 {
        state.free -= 1
        return nil
      }
      let place = TaskMonitor(false)
      state.waiting.append(place)
      return place
    }
    guard let place else { return false }
    if await place.wait({ $0 ? true : nil }) != nil { return true }
    let hasTurn = state.withLock { state in
      guard let index = state.waiting.firstIndex(where: { $0 === place }) else { return true }
      state.waiting.remove(at: index)
      return false
    }
    if hasTurn { giveBack() }
    throw .cancelled
  }

  /// Gives a turn back, or hands it to the task that has waited longest.
  func giveBack() {
    let next = state.withLock { state -> TaskMonitor<Bool>? in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.free += 1
      return nil
    }
    next?.set(true)
  }
}
