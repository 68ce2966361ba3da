import FetchVocabulary
import EngineConformance
import EngineAPI
import TestStorage
import Testing
@testable import CacheCore
@testable import HTTPCaching

/// A failing store never prevents a fetch: coalescer are then shared within this process only.
@Suite(.turnsBeforeOthers, .timeLimit(.minutes(30)))
struct FailingStoreTests {
  private static let failures: [CacheError.Code] = [.permissionDenied, .busy, .closed, .damaged, .cancelled, .failed]

  @Test(arguments: failures)
  func withoutAStoreTheTasksOfTheProcessShareTheRequest(code: CacheError.Code) async throws {
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

  @Test(arguments: failures)
  func aStoreThatFailsWhileOneWaitsIsWaitedForNoMore(code: CacheError.Code) async throws {
    let test = try await CoalescingTest()
    try await test.leaveLease()
    let follower = test.joining(test.coalescer(2))
    try await test.expect { test.time.sleeps.count == 1 }
    test.test.engine.breakDown(CacheError(code, "no store"))
    let outcome = await test.outcome(of: follower)
    #expect(outcome.joined?.token != nil)
    #expect(outcome.passed == .milliseconds(5))
  }

  @Test(arguments: failures)
  func aStoreThatFailsOnLandingKeepsNoCallerWaiting(code: CacheError.Code) async throws {
    let test = try await CoalescingTest()
    let coalescer = test.coalescer(1)
    let token = try #require(try await coalescer.join("a").token)
    let follower = test.joining(coalescer)
    try await test.expect { coalescer.waiters(for: "a") == 1 }
    test.test.engine.breakDown(CacheError(code, "no store"))
    await coalescer.finish(token)
    #expect(await follower.value?.hasFinished == true)
    test.test.engine.breakDown(nil)
    #expect(try await test.entries().count == 1, "the lease is left to run out")
    test.test.clock.advance(by: CoalescingTest.duration)
    await coalescer.finish(try #require(try await coalescer.join("a").token))
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
