import EngineAPI
import EngineConformance
import FetchVocabulary
import TestStorage
import Testing
@testable import CacheCore
@testable import HTTPCaching

/// Requests that end with a failure. Only callers who saw the running request share it.
@Suite(.turnsBeforeOthers, .timeLimit(.minutes(30))) struct LeaseFailureTests {
  private static let failure = CacheError(.originUnreachable, "the server is away", hint: "try again later")

  private func lead(_ coalescer: RequestCoalescer) async throws -> CoalescingToken {
    try #require(try await coalescer.join("a").token)
  }

  @Test(arguments: [failure, CacheError(.notFound, "\"none\" é\u{1}")])
  func waitingCallersGetTheFailure(failure: CacheError) async throws {
    let test = try await CoalescingTest()
    let (here, there) = (test.coalescer(1), test.coalescer(2))
    let token = try await lead(here)
    let followers = [test.joining(here), test.joining(there), test.joining(there)]
    try await test.expect { here.waiters(for: "a") == 1 && there.waiters(for: "a") == 1 && test.time.sleeps.count == 2 }
    await here.finish(token, .failure(failure))
    for follower in followers {
      let told = try #require(await test.outcome(of: follower).joined?.failure)
      #expect((told.code, told.message, told.hint) == (failure.code, failure.message, failure.hint))
    }
    #expect(test.time.sleeps.isEmpty)
  }

  /// Another process may succeed, or continue the incomplete response. The callers of the same process share the
  /// failure.
  @Test func aResponseThatBrokeOffIsRequestedAgainByAnotherProcess() async throws {
    let test = try await CoalescingTest()
    let (here, there) = (test.coalescer(1), test.coalescer(2))
    let token = try await lead(here)
    let (follower, other) = (test.joining(here), test.joining(there))
    try await test.expect { here.waiters(for: "a") == 1 && test.time.sleeps.count == 2 }
    let failure = CacheError(.originUnreachable, "the answer broke off", cause: OriginFailure(hasBrokenOff: true))
    await here.finish(token, .failure(failure))
    #expect(await test.outcome(of: follower).joined?.failure?.message == failure.message)
    #expect(await test.outcome(of: other).joined?.hasFinished == true)
    #expect(try await test.entries().isEmpty)
  }

  @Test func theProcessThatFailedMayHaveEnded() async throws {
    let test = try await CoalescingTest()
    let here = test.coalescer(1)
    let token = try await lead(here)
    let follower = test.joining(test.coalescer(2))
    try await test.expect { test.time.sleeps.count == 2 }
    await here.finish(token, .failure(Self.failure))
    test.processes.end(1)
    #expect(await test.outcome(of: follower).joined?.failure != nil)
  }

  @Test(arguments: [1, 2] as [Int32]) func aLaterProcessTakesTheLeaseOverAtOnce(process: Int32) async throws {
    let test = try await CoalescingTest()
    let here = test.coalescer(1)
    await here.finish(try await lead(here), .failure(Self.failure))
    let lease = try #require(try await test.entries().first)
    #expect(lease.metadata.retainUntil == test.test.clock.now.advanced(by: .seconds(2)))
    let (reads, batches) = (test.test.engine.reads, test.test.engine.batches.count)
    let coalescer = test.coalescer(process)
    let token = try await lead(coalescer)
    #expect(test.test.engine.reads == reads + 1, "the lease was read once")
    #expect(test.test.engine.batches.count <= batches + 2)
    await coalescer.finish(token)
    #expect(try await test.entries().isEmpty)
  }

  @Test func aProcessThatSleptForTooLongTakesTheLeaseOver() async throws {
    let test = try await CoalescingTest()
    let here = test.coalescer(1)
    let token = try await lead(here)
    let follower = test.joining(test.coalescer(2))
    try await test.expect { test.time.sleeps.count == 2 }
    await here.finish(token, .failure(Self.failure))
    test.time.advance(by: LeaseTable.failureDuration)
    #expect(await follower.value?.token != nil)
  }

  @Test func theFailureOfACancelledLeaderIsNotShared() async throws {
    let test = try await CoalescingTest()
    let (here, there) = (test.coalescer(1), test.coalescer(2))
    let token = try await lead(here)
    let follower = test.joining(there)
    try await test.expect { test.time.sleeps.count == 2 }
    await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await here.finish(token, .failure(Self.failure))
    }.value
    #expect(await test.outcome(of: follower).joined?.token != nil)
  }

  @Test func aStoreWithHiddenEntriesHidesTheFailure() async throws {
    let test = try await CoalescingTest()
    let transforms = EntryTransforms([InvertingTransform()])
    let here = test.store(1, transforms: transforms).coalescer
    let there = test.store(2, transforms: transforms).coalescer
    let token = try await lead(here)
    let follower = test.joining(there)
    try await test.expect { test.time.sleeps.count == 2 }
    await here.finish(token, .failure(Self.failure))
    let lease = try #require(try await test.entries().first)
    #expect(lease.metadata.attributes.values.allSatisfy { !$0.contains(Self.failure.message) })
    #expect(await test.outcome(of: follower).joined?.failure?.message == Self.failure.message)
    let withoutTheKey = test.coalescer(3)
    await withoutTheKey.finish(try await lead(withoutTheKey))
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

/// A failing store never prevents a fetch: coalescer are then shared within this process only.
@Suite(.turnsBeforeOthers, .timeLimit(.minutes(30))) struct FailingStoreTests {
  private static let failures: [CacheError.Code] = [.permissionDenied, .busy, .closed, .damaged, .cancelled, .failed]

  @Test(arguments: failures) func withoutAStoreTheTasksOfTheProcessShareTheRequest(code: CacheError.Code) async throws {
    let test = try await CoalescingTest()
    let reason = CacheError(code, "no store")
    let engine = AwaitedEngine(after: reason, clock: ManualClock(Timestamp(milliseconds: 0))) {
      _ throws(CacheError) in throw reason
    }
    let coalescer = test.store(1, engine: engine).coalescer
    let token = try #require(try await coalescer.join("a").token)
    let follower = test.joining(coalescer)
    try await test.expect { coalescer.waiters(for: "a") == 1 }
    await coalescer.finish(token)
    #expect(await follower.value?.hasFinished == true)
    #expect(test.time.sleeps.isEmpty)
  }

  @Test(arguments: failures) func aStoreThatFailsWhileOneWaitsIsWaitedForNoMore(code: CacheError.Code) async throws {
    let test = try await CoalescingTest()
    try await test.leaveLease()
    let follower = test.joining(test.coalescer(2))
    try await test.expect { test.time.sleeps.count == 1 }
    test.test.engine.breakDown(CacheError(code, "no store"))
    let outcome = await test.outcome(of: follower)
    #expect(outcome.joined?.token != nil)
    #expect(outcome.passed == .milliseconds(5))
  }

  @Test(arguments: failures) func aStoreThatFailsOnLandingKeepsNoCallerWaiting(code: CacheError.Code) async throws {
    let test = try await CoalescingTest()
    let coalescer = test.coalescer(1)
    let token = try #require(try await coalescer.join("a").token)
    let follower = test.joining(coalescer)
    try await test.expect { coalescer.waiters(for: "a") == 1 }
    test.test.engine.breakDown(CacheError(code, "no store"))
    await coalescer.finish(token)
    #expect(await follower.value?.hasFinished == true)
    test.test.engine.breakDown(nil)
    #expect(try await test.entries().count == 1, "other processes wait until the lease runs out")
    let again = test.joining(coalescer)
    await coalescer.finish(try #require(await test.outcome(of: again).joined?.token))
    #expect(test.time.sleeps.isEmpty, "its own process does not")
    #expect(try await test.entries().isEmpty)
  }

  @Test func aRenewalThatFailsIsTriedAgain() async throws {
    let test = try await CoalescingTest()
    let coalescer = test.coalescer(1)
    let token = try #require(try await coalescer.join("a").token)
    try await test.expect { test.time.sleeps.count == 1 }
    let before = try await test.entries()
    for (error, batches) in [(CacheError(.busy, "held"), 2), (nil, 3)] {
      test.test.engine.breakDown(error)
      test.time.advance(by: CoalescingTest.duration / 3 + .milliseconds(1))
      try await test.expect { test.time.sleeps.count == 1 && test.test.engine.batches.count == batches }
      #expect(try await (test.entries() == before) == (error != nil))
    }
    await coalescer.finish(token)
    #expect(try await test.entries().isEmpty)
  }

  @Test func aStoreThatRefusesEveryChangeIsGivenUp() async throws {
    let test = try await CoalescingTest()
    try await test.leaveLease()
    test.test.engine.refuse(.max)
    let outcome = await test.outcome(of: test.joining(test.coalescer(2)))
    #expect(outcome.joined?.token != nil)
    #expect(outcome.passed >= CoalescingTest.duration * 2)
  }
}
