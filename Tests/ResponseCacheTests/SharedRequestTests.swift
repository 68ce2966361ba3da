import HTTPCaching
import MemoryStorage
import ResponseCache
import ResponseCacheTesting
@testable import CacheCore
import EngineAPI
import Synchronization
import Testing

/// A request belongs to all who wait for its answer.
@Suite(.timeLimit(.minutes(30))) struct SharedRequestTests {
  struct NoNetwork: Error {}

  private static let waiting = 4
  private let clock = ManualClock()
  private let origin = StagedOrigin()
  private let warnings = ResourceTests.Warnings()

  private func process(isShared: Bool = false) async throws -> ChangedProcess {
    ChangedProcess(try await StorageLocation.memory.open(clock: clock), clock, origin, isShared: isShared)
  }

  /// The first caller's request, and the tasks of callers that wait for it.
  private func callers(
    _ process: ChangedProcess, count: Int = waiting
  ) async throws -> (first: Task<Int, any Error>, others: [Task<Int, any Error>]) {
    let first = Task { try await process.numbers("a") }
    await origin.arrival(of: 1)
    let others = (0..<count).map { _ in Task { try await process.numbers("a") } }
    try await process.waiters(count)
    return (first, others)
  }

  @Test func theFirstCallerLeavesAtOnceAndTheRequestGoesOn() async throws {
    let (first, others) = try await callers(try await process())
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(!origin.isCancelled(1))
    origin.answer(1)
    for other in others { #expect(try await other.value == 1) }
    #expect(origin.count == 1)
  }

  @Test(arguments: [true, false]) func theRequestIsCancelledWhenTheLastCallerHasGone(firstLeavesFirst: Bool)
    async throws
  {
    let process = try await process()
    let (first, others) = try await callers(process)
    let tasks = firstLeavesFirst ? [first] + others : others + [first]
    for task in tasks.dropLast() {
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(!origin.isCancelled(1))
    }
    tasks.last?.cancel()
    await origin.cancellation(of: 1)
    // The request still ignores its cancellation, and nobody waits for its answer any more.
    let later = Task { try await process.numbers("a") }
    await origin.arrival(of: 2)
    origin.answer(1)
    for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
    #expect(try await !process.hasFresh(.resource), "the answer to a cancelled request is not stored")
    origin.answer(2)
    #expect(try await later.value == 2)
  }

  @Test func aCallerThatIsAloneWaitsUntilItsRequestHasEnded() async throws {
    let process = try await process(isShared: true)
    let isOver = Mutex(false)
    let alone = Task {
      defer { isOver.withLock { $0 = true } }
      return try await process.numbers("a")
    }
    await origin.arrival(of: 1)
    alone.cancel()
    await origin.cancellation(of: 1)
    #expect(!isOver.withLock { $0 })
    origin.answer(1)
    await #expect(throws: CancellationError.self) { try await alone.value }
    #expect(try await process.cache.statistics().entries == 0)
  }

  /// A revalidation in the background is one of those who wait.
  @Test func aRequestOfTheBackgroundGoesOnForItsCallers() async throws {
    let process = try await process()
    origin.answer(1)
    _ = try await process.numbers("a")
    clock.advance(by: .seconds(150))
    #expect(try await process.numbers("a") == 1)
    await origin.arrival(of: 2)
    let other = Task { try await process.numbers("a", policy: .networkOnly) }
    try await process.waiters(1)
    let closing = Task { await process.cache.services.background.finish() }
    closing.cancel()
    _ = await closing.value
    #expect(!origin.isCancelled(2))
    origin.answer(2)
    #expect(try await other.value == 2)
  }

  /// The request has the task-local values of the caller that began it.
  @Test func theRequestSeesTheTaskLocalValuesOfItsCaller() async throws {
    let cache = try await Cache.inMemory()
    let values = cache.resource("values1") { (_: Int) in Self.local.get() }
    #expect(try await Self.local.withValue(7) { try await values(1) } == 7)
  }

  private static let local = TaskLocal<Int>(wrappedValue: 0)

  /// A closure that outdates its own request and then needs its own answer would do so for ever.
  @Test func aClosureThatChangesWhatItFetchesMayNotNeedItsAnswer() async throws {
    let cache = try await Cache.inMemory()
    let error = await #expect(throws: CacheError.self) { try await Self.own(cache)(1) }
    #expect(error?.code == .invalidRequest)
  }

  private static func own(_ cache: Cache) -> Resource<Int, Int> {
    cache.resource("own") { (number: Int) in
      try await own(cache).invalidate(number)
      return try await own(cache)(number)
    }
  }

  /// A cache whose answers are all too large to be stored if `isFull`.
  private func cache(isFull: Bool) async throws -> (Cache, RequestCoalescer) {
    let store = EntryStore(
      engine: try await StorageLocation.memory.open(clock: clock), clock: clock,
      limits: StoreLimits(maxBytes: isFull ? 1 : 1_000))
    let coalescer = store.coalescer
    let services = FetchServices(
      rules: HTTPCacheRules(freshness: .standard), now: { [clock] in clock.now.sinceEpoch }, coalescer: coalescer)
    return (
      Cache(store: store, services: services, warn: warnings.add), coalescer
    )
  }

  /// One failure is one warning, whether the origin failed or the answer could not be stored, and whether its first
  /// caller is still there or not.
  @Test(arguments: [true, false], [true, false])
  func aFailureIsReportedOnce(isFull: Bool, firstLeaves: Bool) async throws {
    let (cache, coalescer) = try await cache(isFull: isFull)
    let origin = FakeOrigin { (_: String) in isFull ? "long" : "text" }
    let texts = cache.resource("texts", freshFor: .seconds(10), staleIfError: .seconds(1_000), fetch: origin.fetch)
    if !isFull { _ = try await texts("a") }
    clock.advance(by: .seconds(20))
    if !isFull { origin.fail(with: NoNetwork()) }
    origin.hold()
    let asked = origin.queries.count
    let tasks = (0..<5).map { _ in Task { try await texts("a") } }
    await origin.arrival(of: asked + 1)
    while coalescer.waiters(for: "texts/v1/query=a/version=1") < 4 {
      try Task.checkCancellation()
      await Task.yield()
    }
    if firstLeaves { tasks[0].cancel() }
    origin.release()
    for task in tasks.dropFirst(firstLeaves ? 1 : 0) { _ = await task.result }
    #expect(warnings.codes == [isFull ? .tooLarge : .originUnreachable])
    #expect(origin.queries.count == asked + 1)
  }

  /// Failures one after the other are reported one by one.
  @Test func eachFailureIsReported() async throws {
    let (cache, _) = try await cache(isFull: false)
    let origin = FakeOrigin { (_: String) in "text" }
    let texts = cache.resource("texts", freshFor: .seconds(10), staleIfError: .seconds(1_000), fetch: origin.fetch)
    _ = try await texts("a")
    clock.advance(by: .seconds(20))
    origin.fail(with: NoNetwork())
    for _ in 0..<3 { _ = try await texts("a") }
    #expect(warnings.codes == [.originUnreachable, .originUnreachable, .originUnreachable])
  }

  /// Each caller can still see the failure in its own snapshot.
  @Test func allCallersSeeTheFailureInTheirSnapshots() async throws {
    let (cache, coalescer) = try await cache(isFull: false)
    let origin = FakeOrigin { (_: String) in "text" }
    let texts = cache.resource("texts", freshFor: .seconds(10), staleIfError: .seconds(1_000), fetch: origin.fetch)
    _ = try await texts("a")
    clock.advance(by: .seconds(20))
    origin.fail(with: NoNetwork())
    origin.hold()
    let tasks = (0..<3).map { _ in
      Task {
        var codes: [CacheError.Code] = []
        for try await snapshot in texts.snapshots(for: "a") { codes += snapshot.warnings.map(\.code) }
        return codes
      }
    }
    await origin.arrival(of: 2)
    while coalescer.waiters(for: "texts/v1/query=a/version=1") < 2 {
      try Task.checkCancellation()
      await Task.yield()
    }
    origin.release()
    for task in tasks { #expect(try await task.value == [.originUnreachable]) }
  }
}
