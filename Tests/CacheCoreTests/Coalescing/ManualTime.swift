import EngineConformance
import EngineAPI
import Synchronization

@testable import CacheCore

/// Time that stands still until the test advances it: a sleeping task wakes when enough has passed. The clock advances
/// with it, and can also be set.
final class ManualTime: Sendable {
  private struct Sleeper {
    let deadline: Duration
    let duration: Duration
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var elapsed = Duration.zero
    var lastNumber = 0
    var sleepers: [Int: Sleeper] = [:]
  }

  private let clock: ManualClock
  private let state = Mutex(State())

  init(clock: ManualClock) { self.clock = clock }

  /// How long the sleeping tasks sleep.
  var sleeps: [Duration] { state.withLock { $0.sleepers.values.map(\.duration).sorted() } }

  /// How much time must pass until the first sleeping task wakes; `nil` if none sleeps.
  var untilNext: Duration? {
    state.withLock { state in state.sleepers.values.map { $0.deadline - state.elapsed }.min() }
  }

  /// Returns when `duration` has passed.
  func sleep(_ duration: Duration) async throws {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCancelled = state.withLock { state in
          if Task.isCancelled { return true }
          state.sleepers[number] = Sleeper(
            deadline: state.elapsed + duration, duration: duration, continuation: continuation)
          return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Lets `duration` pass.
  func advance(by duration: Duration) {
    clock.advance(by: duration)
    let woken = state.withLock { state in
      state.elapsed += duration
      let due = state.sleepers.filter { $0.value.deadline <= state.elapsed }
      for number in due.keys { state.sleepers[number] = nil }
      return due.values.sorted { $0.deadline < $1.deadline }
    }
    for sleeper in woken { sleeper.continuation.resume() }
  }
}

/// Processes that run until the test ends them.
final class FakeProcesses: Sendable {
  private let ended = Mutex<Set<String>>([])

  private struct View: ProcessTable {
    let current: String?
    let processes: FakeProcesses

    func cannotFinish(_ process: String) -> Bool { processes.ended.withLock { $0.contains(process) } }
  }

  /// The processes as process `number` sees them; with `nil`, as one that cannot be identified.
  func seen(by number: Int32?) -> any ProcessTable { View(current: number.map { identity($0) }, processes: self) }

  func identity(_ number: Int32) -> String { "this \(number) \(number * 100)" }

  func end(_ number: Int32) { ended.withLock { _ = $0.insert(identity(number)) } }
}
