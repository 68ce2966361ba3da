import CacheDomain
import Testing
@testable import CacheData
@testable import CacheCore
@testable import HTTPCaching

/// Many concurrent fetches from an origin that fails: one asks, and all share its failure.
@Suite(.timeLimit(.minutes(30)))
struct SharedFailureTests {
  private static let count = 50

  /// Fetches concurrently; the origin answers the first request only when all others wait for it.
  private func fetch(
    _ stored: FetchCase.Stored, _ answer: FetchCase.Answer, policy: FetchPolicy = .cacheFirst
  ) async -> (outcomes: [FetchOutcome], asks: Int) {
    let row = FetchCase(policy: policy, stored: stored, answer: answer, storage: .works)
    let (log, coalescer) = (CallLog(), RequestCoalescer())
    let origin = FakeOrigin(log: log) { () async throws(CacheError) in
      let isFirst = log.all.count { $0.isAsk } == 1
      while isFirst, !Task.isCancelled, coalescer.waiters(for: FakeStorage.key) < Self.count - 1 { await Task.yield() }
      return try row.answered()
    }
    let services = FetchServices(
      rules: HTTPCacheRules(freshness: FetchCase.freshness), now: { FakeStorage.now }, coalescer: coalescer)
    let repository = DefaultCityRepository(
      storage: FakeStorage(log: log, stored: row.storedResponse), origin: origin, services: services)
    let outcomes = await withTaskGroup(of: FetchOutcome.self) { group in
      for _ in 0..<Self.count {
        group.addTask { await FetchOutcome(repository.cities(CitiesQuery(), options: row.options), log: CallLog()) }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    return (outcomes, log.all.count { $0.isAsk })
  }

  @Test(
    arguments: [FetchCase.Stored.none, .pastStaleIfError],
    [FetchCase.Answer.unreachable, .invalid, .notFound, .badRequest])
  func whereNothingStandsInAllFail(stored: FetchCase.Stored, answer: FetchCase.Answer) async {
    let row = FetchCase(policy: .cacheFirst, stored: stored, answer: answer, storage: .works)
    let (outcomes, asks) = await fetch(stored, answer)
    #expect(asks == 1)
    #expect(outcomes.count == Self.count)
    #expect(outcomes.allSatisfy { $0.error == row.originError?.code && $0.items.isEmpty })
  }

  /// Another process may have better credentials than the leader.
  @Test func refusedCredentialsConcernTheirCallerAlone() async {
    let (outcomes, asks) = await fetch(.none, .refused)
    #expect(asks == Self.count)
    #expect(outcomes.allSatisfy { $0.error == .originRefused && $0.items.isEmpty })
  }

  @Test(arguments: [FetchCase.Answer.unreachable, .invalid])
  func theStaleEntryStandsInForAll(answer: FetchCase.Answer) async {
    let code: CacheError.Code = answer == .unreachable ? .originUnreachable : .invalidAnswer
    let (outcomes, asks) = await fetch(.stale, answer)
    #expect(asks == 1)
    #expect(outcomes.count == Self.count)
    #expect(outcomes.allSatisfy { $0.error == nil && $0.items.count == 1 })
    #expect(outcomes.allSatisfy { $0.items.first?.isStale == true && $0.items.first?.warnings == [code] })
  }

  @Test func whoDemandsTheOriginsAnswerSharesTheFailureToo() async {
    let (outcomes, asks) = await fetch(.stale, .unreachable, policy: .networkOnly)
    #expect(asks == 1)
    #expect(outcomes.allSatisfy { $0.error == .originUnreachable })
  }
}
