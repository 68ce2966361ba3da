import CacheDomain
import EngineConformance
import EngineAPI
import Synchronization
import TestStorage
import Testing
@testable import CacheData
@testable import CacheCore
@testable import HTTPCaching

/// Leases that vanish without a result, as when the leader dies on another machine and the store's server drops its
/// expired lease.
@Suite(.turnsBeforeOthers, .timeLimit(.minutes(30)))
struct VanishedLeaseTests {
  private static let processes = 4
  private static let fetchesPerProcess = 5
  private static let request = CitiesRequestDTO(origin: "counting", query: CitiesQuery())

  /// Fetches a page in several processes while a lease keeps all of them waiting, then makes the lease vanish, and
  /// returns how often the origin was asked.
  private func asks(
    storing answer: CitiesPageDTO? = nil, cacheControl: String = "max-age=60"
  ) async throws -> (asks: Int, answered: Int) {
    let test = try await CoalescingTest()
    let key = try test.test.cities.key(for: Self.request)
    let lease = try await test.leaveLease(key)
    let coalescers = (1...Int32(Self.processes)).map { test.coalescer($0) }
    let origin = CountingOrigin(cacheControl: cacheControl) { asks in
      // Until every other fetch waits, or asks too.
      let pauses = test.time.sleeps.count { $0 < .seconds(1) }
      return coalescers.reduce(asks + pauses) { $0 + $1.waiters(for: key) }
        >= Self.processes * Self.fetchesPerProcess
    }
    let fetches = coalescers.flatMap { coalescer in
      (0..<Self.fetchesPerProcess).map { _ in fetch(test, origin, coalescer) }
    }
    try await test.expect {
      coalescers.allSatisfy { $0.waiters(for: key) == Self.fetchesPerProcess - 1 }
        && test.time.sleeps.count == Self.processes
    }
    if let answer { try await test.test.cities.store(answer, head: test.test.head(), for: Self.request) }
    var batch = WriteBatch()
    batch.remove(lease)
    try await test.test.engine.apply(batch)
    let isOver = Flag()
    let observer = Task {
      var answered = 0
      for fetch in fetches where await fetch.value { answered += 1 }
      isOver.raise()
      return answered
    }
    _ = await test.passTime { isOver.isRaised }
    // No time passes for them any more if the test was cancelled.
    if Task.isCancelled { for fetch in fetches { fetch.cancel() } }
    return (origin.asks, await observer.value)
  }

  private func fetch(_ test: CoalescingTest, _ origin: CountingOrigin, _ coalescer: RequestCoalescer) -> Task<
    Bool, Never
  > {
    let services = FetchServices(
      rules: HTTPCacheRules(
        freshness: FreshnessPolicy(timeToLive: .seconds(60), staleIfError: .zero, staleWhileRevalidate: .zero)),
      now: { test.test.clock.now.sinceEpoch }, coalescer: coalescer)
    let repository = DefaultCityRepository(storage: test.test.cities, origin: origin, services: services)
    return Task {
      do {
        for try await _ in repository.cities(CitiesQuery(), options: FetchOptions()) { return true }
      } catch {}
      return false
    }
  }

  @Test func withoutAnAnswerOneWaitingCallerAsks() async throws {
    let (asks, answered) = try await asks()
    #expect(asks == 1)
    #expect(answered == Self.processes * Self.fetchesPerProcess)
  }

  @Test func withAnAnswerNoCallerAsks() async throws {
    let (asks, answered) = try await asks(storing: CitiesPageDTO(.sample))
    #expect(asks == 0)
    #expect(answered == Self.processes * Self.fetchesPerProcess)
  }

  @Test func anAnswerThatMustNotBeStoredKeepsNoCallerWaitingForEver() async throws {
    let (asks, answered) = try await asks(cacheControl: "no-store")
    #expect((1...Self.processes * Self.fetchesPerProcess).contains(asks))
    #expect(answered == Self.processes * Self.fetchesPerProcess)
  }
}

/// An origin that counts its requests, and answers when `isReady` returns `true`.
private final class CountingOrigin: CityOrigin {
  let name = "counting"
  private let cacheControl: String
  private let isReady: @Sendable (_ asks: Int) -> Bool
  private let count = Mutex(0)

  init(cacheControl: String, isReady: @escaping @Sendable (_ asks: Int) -> Bool) {
    self.cacheControl = cacheControl
    self.isReady = isReady
  }

  var asks: Int { count.withLock { $0 } }

  func answer(
    to request: CitiesRequestDTO, conditions: HTTPFields
  ) async throws(CacheError) -> OriginAnswer<CitiesPageDTO> {
    count.withLock { $0 += 1 }
    while !isReady(asks), !Task.isCancelled { await Task.yield() }
    return OriginAnswer(
      head: HTTPResponseHead(status: 200, fields: ["Cache-Control": cacheControl]), response: CitiesPageDTO(.sample))
  }
}
