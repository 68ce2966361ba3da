import CacheDomain
import StorageConformance
import StorageSPI
import Synchronization
import Testing

@testable import CacheData
@testable import ResponseStorage

/// Several processes over one store, with a hand on the time, on the store and on what is known of the processes.
struct FlightTest {
  static let duration = Duration.seconds(10)

  let test: TestStore
  let time: ManualTime
  let processes = FakeProcesses()

  init() async throws {
    test = try await TestStore()
    time = ManualTime(clock: test.clock)
  }

  /// The flights of the process `number`; another store than the common one may be given.
  func flights(_ number: Int32, store: EntryStore? = nil) -> LeasedFlights {
    LeasedFlights(
      store: store ?? test.store, processes: processes,
      timing: LeaseTiming(duration: Self.duration, sleep: { [time] in try await time.sleep($0) })
    ) { [processes] in
      LeaseHolder(name: "process \(number)", process: processes.identity(number))
    }
  }

  /// The leases as the process `number` sees them; with `nil` as one that nothing is known of.
  func table(_ number: Int32?) -> LeaseTable {
    let process = number.map { processes.identity($0) }
    return LeaseTable(
      store: test.store, processes: processes,
      holder: LeaseHolder(name: "crashed", process: process), duration: Self.duration)
  }

  /// Leaves behind a lease that nobody renews.
  @discardableResult
  func leaveLease(_ flight: String = "a", process number: Int32? = nil) async throws -> CacheKey {
    let key = try Lease.key(for: flight)
    _ = try #require(try await table(number).take(key, expecting: .absent))
    return key
  }

  /// The entries of the store.
  func entries() async throws -> [EntrySummary] { try await test.engine.scan(KeyRange(), limit: 100) }

  /// Boards in a task of its own.
  func boarding(_ flights: any FetchFlights, _ key: String = "a") -> Follower {
    Follower(task: Task { try? await flights.board(key) })
  }

  /// Lets time go by until `isEnough` says so, from one wake-up to the next, and returns how much did.
  func passTime(until isEnough: @escaping @Sendable () -> Bool) async -> Duration {
    var passed = Duration.zero
    while !isEnough(), !Task.isCancelled {
      // Whoever waits may just be about to: it is left some turns.
      for _ in 0..<50 where !isEnough() { await Task.yield() }
      if isEnough() { break }
      // No further than the longest pause, should somebody who was to sleep be late.
      let step = min(time.untilNext ?? .milliseconds(5), .milliseconds(250))
      let sleepers = time.sleeps.count
      time.advance(by: step)
      passed += step
      // Who was woken sleeps again or has ended: on a busy machine a lease would run out before its holder gets a turn.
      for _ in 0..<10_000 where !isEnough() && time.sleeps.count < sleepers { await Task.yield() }
    }
    return passed
  }

  /// What became of `follower`, and how much time went by until then.
  func outcome(of follower: Follower) async -> (boarding: Boarding?, passed: Duration) {
    let isDone = Flag()
    let observer = Task {
      _ = await follower.value
      isDone.raise()
    }
    let passed = await passTime { isDone.isRaised }
    observer.cancel()
    return (await follower.value, passed)
  }

  /// Returns once `condition` holds, without letting time go by.
  func expect(_ condition: () async throws -> Bool) async throws {
    while try await !condition() {
      try Task.checkCancellation()
      await Task.yield()
    }
  }
}

/// Somebody who boards; a test that is stopped because it takes too long stops it too.
struct Follower: Sendable {
  let task: Task<Boarding?, Never>

  /// What became of boarding; `nil` where it was cancelled.
  var value: Boarding? {
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

/// Something that happens once.
final class Flag: Sendable {
  private let raised = Mutex(false)

  var isRaised: Bool { raised.withLock { $0 } }

  func raise() { raised.withLock { $0 = true } }
}

extension Boarding {
  /// The ticket of who leads; `nil` for who has landed.
  var ticket: FlightTicket? {
    if case .leading(let ticket) = self { ticket } else { nil }
  }

  /// Whether another caller's flight ended without a failure. A lease that is gone does not say more.
  var hasLanded: Bool {
    switch self {
    case .landed(nil), .vanished: true
    case .landed, .leading: false
    }
  }

  /// The failure of somebody else's flight; `nil` where there is none.
  var failure: CacheError? {
    if case .landed(let failure) = self { failure } else { nil }
  }
}
