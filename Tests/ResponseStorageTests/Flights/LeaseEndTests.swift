import FetchVocabulary
import StorageConformance
import StorageSPI
import TestStorage
import Testing
@testable import CacheCore
@testable import HTTPCaching

/// Leases whose holders are gone, or seem to be.
@Suite(.turnsBeforeOthers, .timeLimit(.minutes(30)))
struct LeaseEndTests {
  /// A lease's duration, plus at most one pause.
  private static let untilRunOut = FlightTest.duration...FlightTest.duration + .milliseconds(300)

  @Test(arguments: [nil, 9] as [Int32?])
  func aLeaseThatIsNotRenewedRunsOut(process: Int32?) async throws {
    let test = try await FlightTest()
    try await test.leaveLease(process: process)
    let flights = test.flights(2)
    let outcome = await test.outcome(of: test.joining(flights))
    let ticket = try #require(outcome.joined?.ticket)
    #expect(Self.untilRunOut.contains(outcome.passed), "\(outcome.passed)")
    await flights.finish(ticket)
    #expect(try await test.entries().isEmpty, "what the crash left behind is gone")
  }

  @Test func aLeaseThatHasRunOutBeforeKeepsNoCallerWaiting() async throws {
    let test = try await FlightTest()
    try await test.leaveLease()
    test.test.clock.advance(by: FlightTest.duration)
    #expect(try await test.flights(2).join("a").ticket != nil)
  }

  @Test func theLeaseOfADeadProcessIsTakenOverAtOnce() async throws {
    let test = try await FlightTest()
    try await test.leaveLease(process: 9)
    test.processes.end(9)
    let reads = test.test.engine.reads
    #expect(try await test.flights(2).join("a").ticket != nil)
    #expect(test.test.engine.reads == reads + 1, "the lease was looked at once")
  }

  @Test func whenAProcessDiesOneWaitingCallerLeads() async throws {
    let test = try await FlightTest()
    try await test.leaveLease(process: 9)
    let flights = [test.flights(1), test.flights(2), test.flights(3)]
    let followers = flights.map { test.joining($0) }
    try await test.expect { test.time.sleeps.count == 3 }
    test.processes.end(9)
    test.time.advance(by: .milliseconds(5))
    // One of them holds the lease and renews it; the others keep waiting.
    try await test.expect { test.time.sleeps == [.milliseconds(10), .milliseconds(10), FlightTest.duration / 3] }
    let holder = try #require(try await test.entries().first?.metadata.attributes["pid"])
    let leader = try #require((0..<3).first { holder == "\($0 + 1)" })
    await flights[leader].finish(try #require(await followers[leader].value?.ticket))
    for number in 0..<3 where number != leader {
      #expect(await test.outcome(of: followers[number]).joined?.hasFinished == true)
    }
  }

  @Test func theLeasesOfAStoreThatIsClosedAreGivenBack() async throws {
    let test = try await FlightTest()
    let store = EntryStore(engine: test.test.engine, clock: test.test.clock)
    #expect(try await test.flights(1, store: store).join("a").ticket != nil)
    let others = test.flights(2)
    #expect(try await others.join("b").ticket != nil)
    await store.giveBackLeases()
    #expect(try await test.entries().map(\.key) == [try Lease.key(for: "b")])
    #expect(try await others.join("a").ticket != nil)
  }

  @Test func anEntryThatIsNoLeaseIsTakenOver() async throws {
    let test = try await FlightTest()
    let key = try Lease.key(for: "a")
    let metadata = EntryMetadata(
      storedAt: test.test.clock.now, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: "text/plain")
    try await test.test.store.write(key, payload: [1, 2, 3], metadata: metadata)
    let flights = test.flights(1)
    await flights.finish(try #require(try await flights.join("a").ticket))
    #expect(try await test.entries().isEmpty)
  }

  @Test func aDamagedLeaseIsTakenOver() async throws {
    let test = try await FlightTest()
    try await test.leaveLease()
    test.test.engine.alter { ($0.key, $0.payload + [0], $0.metadata) }
    let flights = test.flights(1)
    await flights.finish(try #require(try await flights.join("a").ticket))
    #expect(try await test.entries().isEmpty)
  }

  @Test func aClockSetBackMakesNoCallerWaitLonger() async throws {
    let test = try await FlightTest()
    test.test.clock.advance(by: .seconds(100_000))
    try await test.leaveLease()
    test.test.clock.set(Timestamp(milliseconds: 0))
    let outcome = await test.outcome(of: test.joining(test.flights(2)))
    #expect(outcome.joined?.ticket != nil)
    #expect(Self.untilRunOut.contains(outcome.passed), "\(outcome.passed)")
  }

  @Test func aClockSetBackDoesNotMakeAnAbandonedLeaseHoldAgain() async throws {
    let test = try await FlightTest()
    let key = try await test.leaveLease()
    let version = try #require(try await test.table(nil).find(key)?.version)
    _ = try await test.table(nil).end(key, version: version, nil)
    test.test.clock.set(Timestamp(milliseconds: 1))
    let reads = test.test.engine.reads
    #expect(try await test.flights(2).join("a").ticket != nil)
    #expect(test.test.engine.reads == reads + 1, "the lease was looked at once")
  }

  @Test func whoLostItsLeaseLeavesThatOfTheOtherAlone() async throws {
    let test = try await FlightTest()
    let (here, there) = (test.flights(1), test.flights(2))
    let first = try #require(try await here.join("a").ticket)
    // As after a suspension: time has passed without a renewal.
    test.test.clock.advance(by: FlightTest.duration)
    let second = try #require(try await there.join("a").ticket)
    await here.finish(first)
    #expect(try await test.entries().map(\.metadata.attributes["pid"]) == ["2"])
    await there.finish(second)
    #expect(try await test.entries().isEmpty)
  }

  @Test func whoLostItsLeaseStopsRenewingIt() async throws {
    let test = try await FlightTest()
    let (here, there) = (test.flights(1), test.flights(2))
    let first = try #require(try await here.join("a").ticket)
    test.test.clock.advance(by: FlightTest.duration)
    let second = try #require(try await there.join("a").ticket)
    try await test.expect { test.time.sleeps.count == 2 }
    test.time.advance(by: FlightTest.duration / 3 + .milliseconds(1))
    // The other's lease is renewed, its own is not.
    try await test.expect { test.time.sleeps.count == 1 && test.test.engine.batches.count == 5 }
    await here.finish(first)
    #expect(try await test.entries().map(\.metadata.attributes["pid"]) == ["2"])
    await there.finish(second)
  }
}
