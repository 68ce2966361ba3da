import FetchVocabulary
import StorageConformance
import StorageSPI
import TestStorage
import Testing
@testable import CacheCore
@testable import HTTPCaching

/// Flights that end with a failure. Only those who saw the flight under way share it.
@Suite(.turnsBeforeOthers, .timeLimit(.minutes(30)))
struct LeaseFailureTests {
  private static let failure = CacheError(.originUnreachable, "the server is away", hint: "try again later")

  private func lead(_ flights: LeasedFlights) async throws -> FlightTicket {
    try #require(try await flights.join("a").ticket)
  }

  @Test(arguments: [failure, CacheError(.notFound, "\"none\" é\u{1}")])
  func waitingCallersGetTheFailure(failure: CacheError) async throws {
    let test = try await FlightTest()
    let (here, there) = (test.flights(1), test.flights(2))
    let ticket = try await lead(here)
    let followers = [test.joining(here), test.joining(there), test.joining(there)]
    try await test.expect {
      here.local.waiters(for: "a") == 1 && there.local.waiters(for: "a") == 1 && test.time.sleeps.count == 2
    }
    await here.finish(ticket, .failure(failure))
    for follower in followers {
      let told = try #require(await test.outcome(of: follower).joined?.failure)
      #expect((told.code, told.message, told.hint) == (failure.code, failure.message, failure.hint))
    }
    #expect(test.time.sleeps.isEmpty)
  }

  @Test func theProcessThatFailedMayHaveEnded() async throws {
    let test = try await FlightTest()
    let here = test.flights(1)
    let ticket = try await lead(here)
    let follower = test.joining(test.flights(2))
    try await test.expect { test.time.sleeps.count == 2 }
    await here.finish(ticket, .failure(Self.failure))
    test.processes.end(1)
    #expect(await test.outcome(of: follower).joined?.failure != nil)
  }

  @Test(arguments: [1, 2] as [Int32])
  func whoComesLaterTakesTheLeaseOverAtOnce(process: Int32) async throws {
    let test = try await FlightTest()
    let here = test.flights(1)
    await here.finish(try await lead(here), .failure(Self.failure))
    let lease = try #require(try await test.entries().first)
    #expect(lease.metadata.retainUntil == test.test.clock.now.advanced(by: .seconds(2)))
    let (reads, batches) = (test.test.engine.reads, test.test.engine.batches.count)
    let flights = test.flights(process)
    let ticket = try await lead(flights)
    #expect(test.test.engine.reads == reads + 1, "the lease was looked at once")
    #expect(test.test.engine.batches.count <= batches + 2)
    await flights.finish(ticket)
    #expect(try await test.entries().isEmpty)
  }

  @Test func whoSleptForTooLongTakesTheLeaseOver() async throws {
    let test = try await FlightTest()
    let here = test.flights(1)
    let ticket = try await lead(here)
    let follower = test.joining(test.flights(2))
    try await test.expect { test.time.sleeps.count == 2 }
    await here.finish(ticket, .failure(Self.failure))
    test.time.advance(by: LeaseTable.failureDuration)
    #expect(await follower.value?.ticket != nil)
  }

  @Test func theFailureOfACancelledLeaderIsNotShared() async throws {
    let test = try await FlightTest()
    let (here, there) = (test.flights(1), test.flights(2))
    let ticket = try await lead(here)
    let follower = test.joining(there)
    try await test.expect { test.time.sleeps.count == 2 }
    await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await here.finish(ticket, .failure(Self.failure))
    }.value
    #expect(await test.outcome(of: follower).joined?.ticket != nil)
  }

  @Test func aFailedLeaseIsHiddenLikeAnyOther() async throws {
    let test = try await FlightTest()
    let here = test.flights(1)
    await here.finish(try await lead(here), .failure(Self.failure))
    let administration = StoreAdministration(store: test.test.store, ledger: FakeLedger())
    #expect(try await administration.list(EntrySelection(), after: nil, limit: 10).entries.isEmpty)
    #expect(try await administration.statistics().count.namespaces.isEmpty)
  }

  @Test func aStoreThatHidesWhatItsEntriesSayHidesTheFailure() async throws {
    let test = try await FlightTest()
    let hidden = EntryStore(
      engine: test.test.engine, clock: test.test.clock, transforms: EntryTransforms([InvertingTransform()]))
    let (here, there) = (test.flights(1, store: hidden), test.flights(2, store: hidden))
    let ticket = try await lead(here)
    let follower = test.joining(there)
    try await test.expect { test.time.sleeps.count == 2 }
    await here.finish(ticket, .failure(Self.failure))
    let lease = try #require(try await test.entries().first)
    #expect(lease.metadata.attributes.values.allSatisfy { !$0.contains(Self.failure.message) })
    #expect(await test.outcome(of: follower).joined?.failure?.message == Self.failure.message)
    let withoutTheKey = test.flights(3)
    await withoutTheKey.finish(try await lead(withoutTheKey))
    #expect(try await test.entries().isEmpty)
  }

  @Test func aSuccessWritesTwice() async throws {
    let test = try await FlightTest()
    let (here, batches) = (test.flights(1), test.test.engine.batches.count)
    await here.finish(try await lead(here))
    #expect(test.test.engine.batches.count == batches + 2)
    #expect(try await test.entries().isEmpty)
  }
}

/// Inverts each byte.
private struct InvertingTransform: PayloadTransform {
  let name = "inverting"
  let hidesContent = true

  func encode(
    _ bytes: Span<UInt8>, _ context: TransformContext
  ) throws(CacheError) -> (bytes: [UInt8], parameter: String)? { (inverted(bytes), "") }

  func decode(_ bytes: Span<UInt8>, parameter: String, _ context: TransformContext) throws(CacheError) -> [UInt8] {
    inverted(bytes)
  }

  private func inverted(_ bytes: Span<UInt8>) -> [UInt8] { bytes.indices.map { ~bytes[$0] } }
}
