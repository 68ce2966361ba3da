import EngineAPI
import EngineConformance
import FetchVocabulary
import Synchronization
import TestStorage
import Testing
@testable import CacheCore
@testable import HTTPCaching

@Suite(.timeLimit(.minutes(30))) struct RequestCoalescerTests {
  private let coalescer = RequestCoalescer()

  /// Boards in a new task, and returns once that task waits as number `count`.
  private func follower(_ key: String = "a", count: Int) async throws -> Follower {
    let follower = Follower(task: Task { [coalescer] in try? await coalescer.join(key) })
    while coalescer.waiters(for: key) < count {
      try Task.checkCancellation()
      await Task.yield()
    }
    return follower
  }

  private func lead(_ key: String = "a") async throws -> CoalescingToken {
    try #require(try await coalescer.join(key).token)
  }

  /// Lands in a task that has already been cancelled.
  private func landCancelled(_ token: CoalescingToken, failure: CacheError? = nil) async {
    await Task { [coalescer] in
      withUnsafeCurrentTask { $0?.cancel() }
      await coalescer.finish(token, failure.map { .failure($0) } ?? .success(nil))
    }.value
  }

  @Test func aCancelledLeaderIsFollowedByTheFirstWhoWaits() async throws {
    let token = try await lead()
    let (first, second) = (try await follower(count: 1), try await follower(count: 2))
    await landCancelled(token)
    let inherited = try #require(await first.value?.token)
    #expect(coalescer.waiters(for: "a") == 1, "the others continue to wait")
    await coalescer.finish(token)
    #expect(coalescer.waiters(for: "a") == 1, "another caller leads now")
    await coalescer.finish(inherited)
    #expect(await second.value?.hasFinished == true)
  }

  @Test func withoutWaitingCallersACancelledLeaderEndsTheRequest() async throws {
    await landCancelled(try await lead())
    await coalescer.finish(try await lead())
  }

  @Test func aCancelledFollowerLeavesTheOthersWaiting() async throws {
    let token = try await lead()
    let (first, second) = (try await follower(count: 1), try await follower(count: 2))
    first.cancel()
    #expect(await first.value == nil)
    #expect(coalescer.waiters(for: "a") == 1)
    await coalescer.finish(token)
    #expect(await second.value?.hasFinished == true)
  }

  @Test func aChangeEndsTheRequestsThatItConcerns() async throws {
    let (first, other) = (
      try #require(try await coalescer.join("a").token), try #require(try await coalescer.join("b").token)
    )
    let alone = coalescer.begin("a")
    try await coalescer.endRequests { $0.contains("a") }
    #expect(coalescer.changes > 0)
    for token in [first, alone] {
      let error = await #expect(throws: CacheError.self) { try await token.storing {} }
      #expect(error?.code == .conflict)
    }
    try await other.storing {}
    let second = try #require(try await coalescer.join("a").token)
    try await second.storing {}
    await coalescer.finish(first)
    #expect(coalescer.waiters(for: "a") == 0)
    try await coalescer.endRequests { _ in true }
    await #expect(throws: CacheError.self) { try await second.storing {} }
    await coalescer.finish(second)
    try await #require(try await coalescer.join("a").token).storing {}
  }

  /// Otherwise the change would miss the response, and the response would be stored after it.
  @Test func aChangeWaitsForAResponseThatIsBeingStored() async throws {
    let token = try #require(try await coalescer.join("a").token)
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let events = AsyncStream.makeStream(of: String.self)
    let storing = Task {
      try await token.storing {
        events.continuation.yield("begun")
        for await _ in gate { break }
        events.continuation.yield("stored")
      }
    }
    var log = events.stream.makeAsyncIterator()
    #expect(await log.next() == "begun")
    let change = Task { [coalescer] in
      try await coalescer.endRequests { _ in true }
      events.continuation.yield("changed")
    }
    while !token.isOutdated {
      try Task.checkCancellation()
      await Task.yield()
    }
    open.yield()
    #expect(await log.next() == "stored")
    #expect(await log.next() == "changed")
    try await storing.value
    try await change.value
  }

  @Test(arguments: [true, false])
  func aCallerWaitsOnlyALimitedTimeForARequestOfItsProcess(inOneCache: Bool) async throws {
    var test = try await CoalescingTest()
    test.maximumWait = .seconds(60)
    let leader = test.coalescer(1)
    let other = inOneCache ? leader : test.coalescer(1)
    let token = try #require(try await leader.join("a").token)
    let code = TaskMonitor<CacheError.Code?>(nil)
    let waiting = Task {
      var found: CacheError.Code?
      do throws(CacheError) {
        if case .finished(.failure(let error), _) = try await other.join("a") { found = error.code }
      } catch {
        found = error.code
      }
      code.set(found)
    }
    let passed = await test.passTime { code.withLock { $0 } != nil }
    await waiting.value
    #expect(code.withLock { $0 } == .busy)
    #expect(passed >= .seconds(60) && passed < .seconds(70), "\(passed)")
    #expect(leader.waiters() == 0)
    await leader.finish(token)
    #expect(try await other.join("a").token != nil)
  }

  @Test func aCallerCancelledBeforeJoiningLeavesNoRequest() async throws {
    let task = Task { [coalescer] in
      withUnsafeCurrentTask { $0?.cancel() }
      return await errorCode { try await coalescer.join("a") }
    }
    #expect(await task.value == .cancelled)
    await coalescer.finish(try await lead())
  }
}

@Suite(.turnsBeforeOthers, .timeLimit(.minutes(30))) struct RequestTrafficTests {
  @Test(arguments: 1...20 as ClosedRange<UInt64>) func inOneProcessAtMostOneLeads(seed: UInt64) async throws {
    let (traffic, coalescer) = (RequestTraffic(seed: seed), RequestCoalescer())
    await traffic.run(over: [coalescer])
    #expect(traffic.collisions == 0, "seed \(seed)")
    for key in RequestTraffic.keys { #expect(try await coalescer.join(key).token != nil, "seed \(seed)") }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>) func inSeveralProcessesAtMostOneLeads(seed: UInt64) async throws {
    let (traffic, test) = (RequestTraffic(seed: seed), try await CoalescingTest())
    // The clock does not move and the pauses are short. So no lease ever runs out.
    let duration = Duration.seconds(1_000_000)
    let options = LeaseOptions(duration: duration, processes: test.processes.seen(by: nil), maximumWait: nil) { pause in
      if pause >= .seconds(1) { try await test.time.sleep(pause) }
      await Task.yield()
      try Task.checkCancellation()
    }
    let coalescers = (0..<3).map { _ in
      EntryStore(engine: test.test.engine, clock: test.test.clock, leases: options).coalescer
    }
    await traffic.run(over: coalescers)
    #expect(traffic.collisions == 0, "seed \(seed)")
    #expect(test.time.sleeps.isEmpty, "nothing is renewed any more; seed \(seed)")
    let leases = try await test.entries()
    #expect(leases.allSatisfy { $0.metadata.state(at: test.test.clock.now) == .expired }, "seed \(seed)")
    for key in RequestTraffic.keys { #expect(try await coalescers[0].join(key).token != nil, "seed \(seed)") }
  }
}

/// Many tasks that join coalescer and finish them, generated from a seed. Some of them are cancelled on the way.
final class RequestTraffic: Sendable {
  static let keys = ["a", "b"]

  /// The actions of one task.
  private struct Trip: Sendable {
    let key: String
    /// How often the task yields before it joins, and before it finishes.
    let delays: (Int, Int)
    /// After how many yields the task is cancelled; `nil` for never.
    let cancelledAfter: Int?
  }

  private let trips: [Trip]
  private let state = Mutex((leaders: Set<String>(), collisions: 0))

  init(seed: UInt64, count: Int = 60) {
    var generator = SeededGenerator(seed: seed)
    trips = (0..<count).map { _ in
      Trip(
        key: Self.keys[Int.random(in: 0..<Self.keys.count, using: &generator)],
        delays: (Int.random(in: 0..<30, using: &generator), Int.random(in: 0..<30, using: &generator)),
        cancelledAfter: Bool.random(using: &generator) ? Int.random(in: 0..<60, using: &generator) : nil)
    }
  }

  /// How often a task led while another one was leading.
  var collisions: Int { state.withLock { $0.collisions } }

  /// Makes all trips concurrently, each with one of `coalescer`, and returns when all have ended.
  func run(over coalescers: [RequestCoalescer]) async {
    await withTaskGroup(of: Void.self) { group in
      for (number, trip) in trips.enumerated() {
        let task = Task { await travel(trip, coalescers[number % coalescers.count]) }
        group.addTask {
          if let count = trip.cancelledAfter {
            await Self.yield(count)
            task.cancel()
          }
          await task.value
        }
      }
    }
  }

  private func travel(_ trip: Trip, _ coalescer: RequestCoalescer) async {
    await Self.yield(trip.delays.0)
    guard case .leading(let token)? = try? await coalescer.join(trip.key) else { return }
    state.withLock { state in if !state.leaders.insert(trip.key).inserted { state.collisions += 1 } }
    await Self.yield(trip.delays.1)
    state.withLock { _ = $0.leaders.remove(trip.key) }
    await coalescer.finish(token)
  }

  private static func yield(_ count: Int) async { for _ in 0..<count { await Task.yield() } }
}
