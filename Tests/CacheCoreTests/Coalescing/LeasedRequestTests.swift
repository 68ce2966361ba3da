import FetchVocabulary
import EngineConformance
import EngineAPI
import TestStorage
import Testing
@testable import CacheCore
@testable import HTTPCaching

@Suite(.turnsBeforeOthers, .timeLimit(.minutes(30))) struct LeasedRequestTests {
  private func lead(_ coalescer: RequestCoalescer, _ key: String = "a") async throws -> CoalescingToken {
    try #require(try await coalescer.join(key).token)
  }

  @Test func theLeaderHoldsALeaseUntilItsRequestEnds() async throws {
    let test = try await CoalescingTest()
    let coalescer = test.coalescer(7)
    let token = try await lead(coalescer, "cities/v1/page=0")
    let lease = try #require(try await test.entries().first)
    #expect(lease.key.text == "leases/v1/page=0,cities")
    let attributes = lease.metadata.attributes.filter { $0.key != "number" }
    #expect(attributes == ["process": "this 7 700"])
    #expect(lease.metadata.retainUntil == test.test.clock.now.advanced(by: CoalescingTest.duration))
    #expect(lease.payloadBytes == 0)
    await coalescer.finish(token)
    #expect(try await test.entries().isEmpty)
    #expect(test.test.engine.batches.count == 2, "it costs only two small writes")
    #expect(test.test.engine.reads == 0)
  }

  @Test func ofManyInTwoProcessesOneLeads() async throws {
    let test = try await CoalescingTest()
    let (here, there) = (test.coalescer(1), test.coalescer(2))
    let token = try await lead(here)
    let followers = (0..<40).map { test.joining($0 < 20 ? here : there) }
    try await test.expect { here.waiters(for: "a") == 20 && there.waiters(for: "a") == 19 }
    try await test.expect { test.time.sleeps == [.milliseconds(5), CoalescingTest.duration / 3] }
    #expect(test.test.engine.reads == 1, "in another process one caller looks at the lease")
    await here.finish(token)
    for follower in followers { #expect(await test.outcome(of: follower).joined?.hasFinished == true) }
    #expect(try await test.entries().isEmpty)
    #expect(test.time.sleeps.isEmpty)
  }

  @Test func requestsForDifferentKeysHaveNothingToDoWithEachOther() async throws {
    let test = try await CoalescingTest()
    let (here, there) = (test.coalescer(1), test.coalescer(2))
    let (first, second) = (try await lead(here, "a"), try await lead(there, "b"))
    #expect(try await test.entries().count == 2)
    await here.finish(first)
    await there.finish(second)
    #expect(try await test.entries().isEmpty)
  }

  @Test func afterTheFetchAnotherCallerLeads() async throws {
    let test = try await CoalescingTest()
    for coalescer in [test.coalescer(1), test.coalescer(2), test.coalescer(1)] {
      let token = try await lead(coalescer)
      await coalescer.finish(token)
      await coalescer.finish(token)
    }
  }

  @Test func thePausesGrow() async throws {
    let test = try await CoalescingTest()
    let token = try await lead(test.coalescer(1))
    let follower = test.joining(test.coalescer(2))
    for pause in [5, 10, 20, 40, 80, 160, 250, 250].map(Duration.milliseconds) {
      try await test.expect { test.time.sleeps.first == pause }
      test.time.advance(by: pause)
      try await test.expect { test.time.sleeps.count == 2 }
    }
    follower.cancel()
    #expect(await follower.value == nil)
    #expect(token.key == "a")
  }

  @Test func aLeaseIsRenewedForAsLongAsTheRequestLasts() async throws {
    let test = try await CoalescingTest()
    let coalescer = test.coalescer(1)
    let token = try await lead(coalescer)
    let follower = test.joining(test.coalescer(2))
    let end = test.test.clock.now.advanced(by: CoalescingTest.duration * 6)
    while test.test.clock.now < end {
      // One renews, one waits. However late they get their turns, no time passes until both sleep.
      try await test.expect { test.time.sleeps.count == 2 }
      test.time.advance(by: try #require(test.time.untilNext))
    }
    let lease = try #require(try await test.entries().first)
    #expect(lease.metadata.retainUntil > end)
    #expect(lease.metadata.attributes["process"] == test.processes.identity(1))
    await coalescer.finish(token)
    #expect(await test.outcome(of: follower).joined?.hasFinished == true)
    #expect(try await test.entries().isEmpty)
  }

  private struct WatchedProcesses: ProcessTable {
    let flag: Flag

    var current: String? {
      flag.raise()
      return nil
    }

    func cannotFinish(_ process: String) -> Bool { false }
  }

  /// A process that only has hits does not pay for it.
  @Test func theProcessIsIdentifiedForARequestAndNotBefore() async throws {
    let (test, identified) = (try await CoalescingTest(), Flag())
    let store = EntryStore(
      engine: test.test.engine, clock: test.test.clock,
      leases: LeaseOptions(processes: WatchedProcesses(flag: identified)))
    let coalescer = store.coalescer
    #expect(!identified.isRaised)
    await coalescer.finish(try await lead(coalescer))
    #expect(identified.isRaised)
  }

  @Test func aCancelledFollowerStopsWaitingAndAnotherOneTakesItsPlace() async throws {
    let test = try await CoalescingTest()
    let (here, there) = (test.coalescer(1), test.coalescer(2))
    let token = try await lead(here)
    let first = test.joining(there)
    try await test.expect { test.time.sleeps.count == 2 }
    let second = test.joining(there)
    try await test.expect { there.waiters(for: "a") == 1 }
    first.cancel()
    #expect(await first.value == nil)
    try await test.expect { test.time.sleeps.count == 2 && there.waiters(for: "a") == 0 }
    await here.finish(token)
    #expect(await test.outcome(of: second).joined?.hasFinished == true)
  }

  @Test(arguments: [true, false]) func aCancelledLeaderIsFollowedByExactlyOneOther(hasFollowerHere: Bool) async throws {
    let test = try await CoalescingTest()
    let (here, there) = (test.coalescer(1), test.coalescer(2))
    let token = try await lead(here)
    var followers = [test.joining(there)]
    try await test.expect { test.time.sleeps.count == 2 }
    if hasFollowerHere { followers.append(test.joining(here)) }
    try await test.expect { here.waiters(for: "a") == followers.count - 1 }
    await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await here.finish(token)
    }.value
    var outcomes: [RequestCoalescer.Joined?] = []
    for (follower, coalescer) in zip(followers, [there, here]).reversed() {
      let joined = await test.outcome(of: follower).joined
      if let token = joined?.token { await coalescer.finish(token) }
      outcomes.append(joined)
    }
    #expect(outcomes.count { $0?.token != nil } == 1)
    #expect(outcomes.count { $0?.hasFinished == true } == followers.count - 1)
    #expect(try await test.entries().isEmpty)
  }
}
