import FetchVocabulary
import EngineConformance
import EngineAPI
import TestStorage
import Testing
@testable import CacheCore
@testable import HTTPCaching

/// Leases whose holders have ended, or seem to have ended.
@Suite(.turnsBeforeOthers, .timeLimit(.minutes(30))) struct LeaseEndTests {
  /// A lease's duration, plus at most one pause.
  private static let untilRunOut = CoalescingTest.duration...CoalescingTest.duration + .milliseconds(300)

  @Test(arguments: [nil, 9] as [Int32?]) func aLeaseThatIsNotRenewedRunsOut(process: Int32?) async throws {
    let test = try await CoalescingTest()
    try await test.leaveLease(process: process)
    let coalescer = test.coalescer(2)
    let outcome = await test.outcome(of: test.joining(coalescer))
    let token = try #require(outcome.joined?.token)
    #expect(Self.untilRunOut.contains(outcome.passed), "\(outcome.passed)")
    await coalescer.finish(token)
    #expect(try await test.entries().isEmpty, "the lease of the crashed process is removed")
  }

  @Test func aLeaseThatHasRunOutBeforeKeepsNoCallerWaiting() async throws {
    let test = try await CoalescingTest()
    try await test.leaveLease()
    test.test.clock.advance(by: CoalescingTest.duration)
    #expect(try await test.coalescer(2).join("a").token != nil)
  }

  @Test func theLeaseOfADeadProcessIsTakenOverAtOnce() async throws {
    let test = try await CoalescingTest()
    try await test.leaveLease(process: 9)
    test.processes.end(9)
    let reads = test.test.engine.reads
    #expect(try await test.coalescer(2).join("a").token != nil)
    #expect(test.test.engine.reads == reads + 1, "the lease was read once")
  }

  /// Otherwise the process would leave behind a lease that others believe in.
  @Test func closingGivesBackALeaseThatIsJustBeingEnded() async throws {
    let test = try await CoalescingTest()
    let coalescer = test.coalescer(1)
    let token = try #require(try await coalescer.join("a").token)
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let isEnding = Flag()
    test.test.engine.beforeBatches { _ in
      if isEnding.isRaised { return }
      isEnding.raise()
      for await _ in gate {}
    }
    let end = Task { await coalescer.finish(token) }
    try await test.expect { isEnding.isRaised }
    await coalescer.giveBackLeases()
    #expect(try await test.entries().isEmpty)
    open.finish()
    await end.value
    #expect(coalescer.waiters() == 0)
  }

  @Test func whenAProcessDiesOneWaitingCallerLeads() async throws {
    let test = try await CoalescingTest()
    try await test.leaveLease(process: 9)
    let coalescers = [test.coalescer(1), test.coalescer(2), test.coalescer(3)]
    let followers = coalescers.map { test.joining($0) }
    try await test.expect { test.time.sleeps.count == 3 }
    test.processes.end(9)
    test.time.advance(by: .milliseconds(5))
    // One of them holds the lease and renews it; the others keep waiting.
    try await test.expect { test.time.sleeps == [.milliseconds(10), .milliseconds(10), CoalescingTest.duration / 3] }
    let holder = try #require(try await test.entries().first?.metadata.attributes["process"])
    let leader = try #require((0..<3).first { holder == test.processes.identity(Int32($0 + 1)) })
    await coalescers[leader].finish(try #require(await followers[leader].value?.token))
    for number in 0..<3 where number != leader {
      #expect(await test.outcome(of: followers[number]).joined?.hasFinished == true)
    }
  }

  @Test func theLeasesOfAStoreThatIsClosedAreGivenBack() async throws {
    let test = try await CoalescingTest()
    let closed = test.coalescer(1)
    #expect(try await closed.join("a").token != nil)
    let others = test.coalescer(2)
    #expect(try await others.join("b").token != nil)
    await closed.giveBackLeases()
    #expect(try await test.entries().map(\.key) == [try Lease.key(for: "b")])
    #expect(try await others.join("a").token != nil)
  }

  @Test func anEntryThatIsNotALeaseIsTakenOver() async throws {
    let test = try await CoalescingTest()
    let key = try Lease.key(for: "a")
    let metadata = EntryMetadata(storedAt: test.test.clock.now)
    try await test.test.store.write(key, payload: [1, 2, 3], metadata: metadata)
    let coalescer = test.coalescer(1)
    await coalescer.finish(try #require(try await coalescer.join("a").token))
    #expect(try await test.entries().isEmpty)
  }

  @Test func aDamagedLeaseIsTakenOver() async throws {
    let test = try await CoalescingTest()
    try await test.leaveLease()
    test.test.engine.alter { ($0.key, $0.payload + [0], $0.metadata) }
    let coalescer = test.coalescer(1)
    await coalescer.finish(try #require(try await coalescer.join("a").token))
    #expect(try await test.entries().isEmpty)
  }

  @Test func aClockSetBackMakesNoCallerWaitLonger() async throws {
    let test = try await CoalescingTest()
    test.test.clock.advance(by: .seconds(100_000))
    try await test.leaveLease()
    test.test.clock.set(Timestamp(milliseconds: 0))
    let outcome = await test.outcome(of: test.joining(test.coalescer(2)))
    #expect(outcome.joined?.token != nil)
    #expect(Self.untilRunOut.contains(outcome.passed), "\(outcome.passed)")
  }

  @Test func aClockSetBackDoesNotMakeAnAbandonedLeaseHoldAgain() async throws {
    let test = try await CoalescingTest()
    let key = try await test.leaveLease()
    let version = try #require(try await test.table(nil).find(key)?.version)
    _ = try await test.table(nil).leave(key, version: version, nil)
    test.test.clock.set(Timestamp(milliseconds: 1))
    let reads = test.test.engine.reads
    #expect(try await test.coalescer(2).join("a").token != nil)
    #expect(test.test.engine.reads == reads + 1, "the lease was read once")
  }

  @Test func aHolderThatLostItsLeaseDoesNotEndTheNewOne() async throws {
    let test = try await CoalescingTest()
    let (here, there) = (test.coalescer(1), test.coalescer(2))
    let first = try #require(try await here.join("a").token)
    // As after a suspension: time has passed without a renewal.
    test.test.clock.advance(by: CoalescingTest.duration)
    let second = try #require(try await there.join("a").token)
    await here.finish(first)
    #expect(try await test.entries().map(\.metadata.attributes["process"]) == [test.processes.identity(2)])
    await there.finish(second)
    #expect(try await test.entries().isEmpty)
  }

  @Test func aHolderThatLostItsLeaseStopsRenewingIt() async throws {
    let test = try await CoalescingTest()
    let (here, there) = (test.coalescer(1), test.coalescer(2))
    let first = try #require(try await here.join("a").token)
    test.test.clock.advance(by: CoalescingTest.duration)
    let second = try #require(try await there.join("a").token)
    try await test.expect { test.time.sleeps.count == 2 }
    test.time.advance(by: CoalescingTest.duration / 3 + .milliseconds(1))
    // The other's lease is renewed, its own is not.
    try await test.expect { test.time.sleeps.count == 1 && test.test.engine.batches.count == 5 }
    await here.finish(first)
    #expect(try await test.entries().map(\.metadata.attributes["process"]) == [test.processes.identity(2)])
    await there.finish(second)
  }
}
