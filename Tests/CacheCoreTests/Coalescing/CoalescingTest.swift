import EngineAPI
import EngineConformance
import FetchVocabulary
import Synchronization
import TestStorage
import Testing
@testable import CacheCore
@testable import HTTPCaching

/// Several processes over one store. The test controls the time, the store and the table of processes.
struct CoalescingTest {
  static let duration = Duration.seconds(10)

  let test: TestStore
  let time: ManualTime
  let processes = FakeProcesses()
  /// How long callers wait for a request of their own process.
  var maximumWait: Duration?

  init() async throws {
    test = try await TestStore()
    time = ManualTime(clock: test.clock)
  }

  /// The store as process `number` opens it; by default, over the common engine.
  func store(
    _ number: Int32?, engine: (any StorageEngine)? = nil, limits: StoreLimits? = nil,
    transforms: EntryTransforms = .none
  ) -> EntryStore {
    EntryStore(
      engine: engine ?? test.engine, clock: test.clock, limits: limits, transforms: transforms, leases: options(number))
  }

  /// The coalescer of process `number`.
  func coalescer(_ number: Int32) -> RequestCoalescer { store(number).coalescer }

  private func options(_ number: Int32?) -> LeaseOptions {
    LeaseOptions(duration: Self.duration, processes: processes.seen(by: number), maximumWait: maximumWait) { [time] in
      try await time.sleep($0)
    }
  }

  /// The leases as process `number` uses them; with `nil`, as a process that cannot be identified.
  func table(_ number: Int32?) -> LeaseTable {
    LeaseTable(engine: test.engine, clock: test.clock, transforms: TransformPipeline(.none), options: options(number))
  }

  /// Leaves a lease behind that is never renewed.
  @discardableResult func leaveLease(_ request: String = "a", process number: Int32? = nil) async throws -> CacheKey {
    let key = try Lease.key(for: request)
    _ = try #require(try await table(number).take(key, expecting: .absent))
    return key
  }

  /// The entries of the store.
  func entries() async throws -> [ScannedEntry] { try await test.engine.scan(ScanRequest()).entries }

  /// Boards in a new task.
  func joining(_ coalescer: RequestCoalescer, _ key: String = "a") -> Follower {
    Follower(task: Task { try? await coalescer.join(key) })
  }

  /// Lets time pass, from one wake-up to the next, until `isEnough` returns `true`. Returns how much time has passed.
  func passTime(until isEnough: @escaping @Sendable () -> Bool) async -> Duration {
    var passed = Duration.zero
    while !isEnough(), !Task.isCancelled {
      // A task may be just about to wait: give it some turns.
      for _ in 0..<50 where !isEnough() { await Task.yield() }
      if isEnough() { break }
      // Advance no further than the longest pause, in case a task is late to sleep.
      let step = min(time.untilNext ?? .milliseconds(5), .milliseconds(250))
      let sleepers = time.sleeps.count
      time.advance(by: step)
      passed += step
      // A woken task sleeps again or has ended. Without this, on a busy machine a lease would run out before its holder
      // gets a turn.
      for _ in 0..<10_000 where !isEnough() && time.sleeps.count < sleepers { await Task.yield() }
    }
    return passed
  }

  /// The result of `follower`, and how much time passed until then.
  func outcome(of follower: Follower) async -> (joined: RequestCoalescer.Joined?, passed: Duration) {
    let isDone = Flag()
    let observer = Task {
      _ = await follower.value
      isDone.raise()
    }
    let passed = await passTime { isDone.isRaised }
    observer.cancel()
    return (await follower.value, passed)
  }

  /// Returns once `condition` holds, without letting time pass.
  func expect(_ condition: () async throws -> Bool) async throws {
    while try await !condition() {
      try Task.checkCancellation()
      await Task.yield()
    }
  }
}

/// A task that joins a request. If the test runs out of time, the task is cancelled too.
struct Follower: Sendable {
  let task: Task<RequestCoalescer.Joined?, Never>

  /// The result of joining; `nil` if it was cancelled.
  var value: RequestCoalescer.Joined? {
    get async {
      await withTaskCancellationHandler {
        await task.value
      } onCancel: {
        task.cancel()
      }
    }
  }

  func cancel() { task.cancel() }
}

/// An event that happens once.
final class Flag: Sendable {
  private let raised = Mutex(false)

  var isRaised: Bool { raised.withLock { $0 } }

  func raise() { raised.withLock { $0 = true } }
}

extension RequestCoalescer.Joined {
  /// The leader's token; `nil` if the caller does not lead.
  var token: CoalescingToken? { if case .leading(let token) = self { token } else { nil } }

  /// Whether another caller's request ended without a failure. A vanished lease says no more than that.
  var hasFinished: Bool {
    switch self {
    case .finished(.success(nil), _), .vanished: true
    case .finished, .leading: false
    }
  }

  /// The failure of another caller's request; `nil` if there is none.
  var failure: CacheError? { if case .finished(.failure(let failure), _) = self { failure } else { nil } }
}

/// A time that changes only when the test advances it: a sleeping task wakes when enough has passed. The clock advances
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

/// Runs the tests of a suite at high priority. A test that yields to other tasks does so thousands of times. If it shared a
/// queue with tests that compute for seconds, it would finish last.
struct TurnsBeforeOthers: SuiteTrait, TestScoping {
  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
  ) async throws {
    try await withoutActuallyEscaping(function) { function in
      let tests = Task(priority: .high) { try await function() }
      try await withTaskCancellationHandler {
        try await tests.value
      } onCancel: {
        tests.cancel()
      }
    }
  }
}

extension Trait where Self == TurnsBeforeOthers {
  /// Runs the tests of a suite ahead of other tests.
  static var turnsBeforeOthers: Self { Self() }
}
