import EngineAPI
import HTTPCaching
import MemoryStorage
import ResponseCache
import ResponseCacheTesting
import Synchronization
import Testing
@testable import CacheCore

/// A request belongs to all callers who wait for its response.
@Suite(.timeLimit(.minutes(30))) struct SharedRequestTests {
  struct NoNetwork: Error {}

  private static let waiting = 4
  private let clock = ManualClock()
  private let origin = StagedOrigin()
  private let warnings = Warnings()

  private func process(isShared: Bool = false) async throws -> ChangedProcess {
    try ChangedProcess(try await StorageLocation.memory.open(clock: clock), clock, origin, isShared: isShared)
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

  @Test func theFirstCallerLeavesAtOnceAndTheRequestContinues() async throws {
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
    // The request still ignores its cancellation, and nobody waits for its response any more.
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
  @Test func aRequestOfTheBackgroundContinuesForItsCallers() async throws {
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
    let values = try cache.resource("values1") { (_: Int) in Self.local.get() }
    #expect(try await Self.local.withValue(7) { try await values(1) } == 7)
  }

  private static let local = TaskLocal<Int>(wrappedValue: 0)

  /// A closure that outdates its own request and then needs its own result would do so forever.
  @Test func aClosureThatChangesItsOwnEntryMustNotNeedItsResponse() async throws {
    let cache = try await Cache.inMemory()
    let error = await #expect(throws: CacheError.self) { try await Self.own(cache)(1) }
    #expect(error?.code == .invalidRequest)
  }

  private static func own(_ cache: Cache) throws -> Resource<Int, Int> {
    try cache.resource("own") { (number: Int) in
      try await own(cache).invalidate(number)
      return try await own(cache)(number)
    }
  }

  /// A cache whose responses are all too large to be stored if `isFull`.
  private func cache(isFull: Bool) async throws -> (Cache, RequestCoalescer) {
    let store = EntryStore(
      engine: try await StorageLocation.memory.open(clock: clock), clock: clock,
      limits: StoreLimits(maxBytes: isFull ? 1 : 1_000))
    let coalescer = store.coalescer
    let services = FetchServices(
      rules: HTTPCacheRules(freshness: .standard), now: { [clock] in clock.now.sinceEpoch }, coalescer: coalescer)
    return (Cache(store: store, services: services, warn: warnings.add), coalescer)
  }

  /// One failure is one warning, whether the origin failed or the response could not be stored, and whether its first
  /// caller is still there or not.
  @Test(arguments: [true, false], [true, false])
  func aFailureIsReportedOnce(isFull: Bool, firstLeaves: Bool) async throws {
    let (cache, coalescer) = try await cache(isFull: isFull)
    let origin = FakeOrigin { (_: String) in isFull ? "long" : "text" }
    let texts = try cache.resource("texts", freshFor: .seconds(10), staleIfError: .seconds(1_000), fetch: origin.fetch)
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
    let texts = try cache.resource("texts", freshFor: .seconds(10), staleIfError: .seconds(1_000), fetch: origin.fetch)
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
    let texts = try cache.resource("texts", freshFor: .seconds(10), staleIfError: .seconds(1_000), fetch: origin.fetch)
    _ = try await texts("a")
    clock.advance(by: .seconds(20))
    origin.fail(with: NoNetwork())
    origin.hold()
    let tasks = (0..<3).map { _ in
      Task {
        var codes: [CacheError.Code] = []
        for try await snapshot in texts.snapshots(for: "a") { codes += snapshot.warnings.map(\.error.code) }
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

/// Callers that ask for the same thing at the same time, if the response cannot be stored.
@Suite(.timeLimit(.minutes(30))) struct SharedAnswerTests {
  private static let callers = 5
  private static let tooLong = String(repeating: "long", count: 1_000)

  private let coalescer = RequestCoalescer()

  /// A cache for entries of up to 100 bytes.
  private func cache() async throws -> Cache {
    let clock = ManualClock()
    let store = EntryStore(
      engine: try await StorageLocation.memory.open(clock: clock), clock: clock, limits: StoreLimits(maxBytes: 100))
    return Cache(
      store: store,
      services: FetchServices(
        rules: HTTPCacheRules(freshness: .standard), now: { clock.now.sinceEpoch }, coalescer: coalescer),
      warn: { _ in })
  }

  /// The results of `fetch` for all callers, if `origin` responds only after one of them has made the request and the
  /// others wait.
  private func together<Query, Answer, Value: Sendable>(
    _ origin: FakeOrigin<Query, Answer>, _ fetch: @escaping @Sendable () async throws -> Value
  ) async throws -> [Value] {
    origin.hold()
    return try await withThrowingTaskGroup(of: Value.self) { group in
      for _ in 0..<Self.callers { group.addTask { try await fetch() } }
      await origin.arrival(of: 1)
      while coalescer.waiters() < Self.callers - 1 {
        try Task.checkCancellation()
        await Task.yield()
      }
      origin.release()
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  @Test(arguments: [("short", 60), (tooLong, 60), ("short", 0), (tooLong, 0)])
  func aClosureIsCalledOnceWhetherItsValueCanBeKeptOrNot(value: String, lifetime: Int) async throws {
    let origin = FakeOrigin { (_: Int) in value }
    let texts = try await cache().resource(
      "texts", freshFor: .seconds(lifetime), staleIfError: .zero, fetch: origin.fetch)
    let values = try await together(origin) { try await texts(1) }
    #expect(values == Array(repeating: value, count: Self.callers))
    #expect(origin.queries == [1])
  }

  /// RFC 9111, section 4: a response that the cache may not store, or must validate before each use, is not served for
  /// another request.
  @Test(arguments: [
    ("max-age=60", "short", 1), ("max-age=60", tooLong, 1), ("private, max-age=60", tooLong, 1),
    ("no-store", "short", callers), ("max-age=0", tooLong, callers), ("max-age=60, no-cache", tooLong, callers),
    ("", tooLong, callers),
  ])
  func aResponseIsSharedIfItMayBeReused(directives: String, content: String, requests: Int) async throws {
    let server = FakeOrigin { (_: HTTP.Request) in
      HTTP.Response(
        HTTP.ResponseHead(status: 200, fields: directives.isEmpty ? [:] : ["cache-control": directives]),
        body: Array(content.utf8))
    }
    let (cache, request) = (try await cache(), HTTP.Request(url: "http://server.example/a"))
    let responses = try await together(server) { try await cache.response(to: request, over: server) }
    #expect(responses.map(\.body) == Array(repeating: Array(content.utf8), count: Self.callers))
    #expect(server.queries.count == requests)
    // A response that was stored is a hit for the callers that waited for it.
    let collapsed = responses.filter { ($0.head.fields["cache-status"] ?? "").contains("; collapsed") }
    #expect(collapsed.count == (content == "short" ? 0 : Self.callers - requests))
  }

  @Test(arguments: [(false, 1), (true, 2)])
  func aCacheForSeveralUsersKeepsNoPrivateResponse(isShared: Bool, requests: Int) async throws {
    let server = FakeOrigin { (_: HTTP.Request) in
      HTTP.Response(HTTP.ResponseHead(status: 200, fields: ["cache-control": "private, max-age=60"]), body: [1])
    }
    let cache = try await Cache(.memory, isShared: isShared)
    for _ in 0..<2 { _ = try await cache.response(to: HTTP.Request(url: "http://server.example/a"), over: server) }
    #expect(server.queries.count == requests)
  }

  /// Two types of value under one name are a mistake, but each caller gets its own.
  @Test func anAnswerOfAnotherTypeIsNotShared() async throws {
    let (cache, origin) = (try await cache(), FakeOrigin { (_: Int) in Self.tooLong })
    let numbers = FakeOrigin { (_: Int) in Array(0..<1_000) }
    func resource<Value: Codable>(_ origin: FakeOrigin<Int, Value>) throws -> Resource<Int, Value> {
      try cache.resource("texts", fetch: origin.fetch)
    }
    let (texts, others) = (try resource(origin), try resource(numbers))
    origin.hold()
    let first = Task { try await texts(1) }
    await origin.arrival(of: 1)
    let second = Task { try await others(1) }
    while coalescer.waiters() < 1 {
      try Task.checkCancellation()
      await Task.yield()
    }
    origin.release()
    #expect(try await first.value == Self.tooLong)
    #expect(try await second.value.count == 1_000)
  }
}

/// Closures that fetch from the cache whose fetch they are.
@Suite(.timeLimit(.minutes(30))) struct OwnFetchTests {
  private let gate = FakeOrigin { (name: String) in name }

  /// The resource `name`, whose closure passes the gate and then fetches the resources that `needs` names for it.
  private func resource(
    _ name: String, in cache: Cache, needs: [String: [String]]
  ) throws -> Resource<Int, [String]> {
    try cache.resource(name) { [gate] number in
      _ = try await gate.fetch(name)
      return try await withThrowingTaskGroup(of: [String].self) { group in
        for other in needs[name] ?? [] { group.addTask { try await resource(other, in: cache, needs: needs)(number) } }
        return try await group.reduce(into: [name]) { $0 += $1 }.sorted()
      }
    }
  }

  @Test(arguments: [
    ["a": ["a"]], ["a": ["b"], "b": ["a"]], ["a": ["b"], "b": ["c"], "c": ["a"]], ["a": ["b"], "b": ["b"]],
  ])
  func aFetchThatNeedsItsOwnResultIsAnError(needs: [String: [String]]) async throws {
    let a = try resource("a", in: try await Cache.inMemory(), needs: needs)
    let error = await #expect(throws: CacheError.self) { try await a(1) }
    #expect(error?.code == .invalidRequest)
    #expect(error?.hint.isEmpty == false)
  }

  @Test func twoFetchesThatNeedEachOtherAreAnError() async throws {
    let cache = try await Cache.inMemory()
    let needs = ["a": ["b"], "b": ["a"]]
    gate.hold()
    let tasks = ["a", "b"].map { name in Task { try await resource(name, in: cache, needs: needs)(1) } }
    await gate.arrival(of: 2)
    gate.release()
    for task in tasks { await #expect(throws: CacheError.self) { try await task.value } }
  }

  @Test func fetchesThatNeedTheSameResultShareIt() async throws {
    let cache = try await Cache.inMemory()
    let a = try resource("a", in: cache, needs: ["a": ["b", "c"], "b": ["d"], "c": ["d", "b"]])
    #expect(try await a(1) == ["a", "b", "b", "c", "d", "d", "d"])
    #expect(gate.queries.sorted() == ["a", "b", "c", "d"])
  }

  @Test func aCacheBehindTheCacheMayHaveTheSameNames() async throws {
    let (near, far) = (try await Cache.inMemory(), try await Cache.inMemory())
    let source = try far.resource("texts") { (number: Int) in "\(number)" }
    let texts = try near.resource("texts") { (number: Int) in try await source(number) }
    #expect(try await texts(1) == "1")
  }

  /// A revalidation in the background belongs to no fetch that began it.
  @Test func aRevalidationMayNeedTheFetchThatBeganIt() async throws {
    let clock = ManualClock()
    let cache = try await Cache.inMemory(clock: clock)
    let outer = FakeOrigin { (_: Int) in "outer" }
    func makeNeeded(_ fetch: @escaping @Sendable (Int) async throws -> String) throws -> Resource<Int, String> {
      try cache.resource("needed", freshFor: .seconds(1_000), fetch: fetch)
    }
    let needed = try makeNeeded(outer.fetch)
    let inner = try cache.resource("inner", freshFor: .seconds(10), staleWhileRevalidate: .seconds(100)) {
      (number: Int) in
      try await needed(number)
    }
    _ = try await inner(1)
    try await needed.remove(1)
    clock.advance(by: .seconds(20))
    let beginning = try makeNeeded { (number: Int) in
      // Serves the stale value. Its revalidation repeats this fetch.
      "\(try await inner(number)) again"
    }
    #expect(try await beginning(1) == "outer again")
    while try await inner.snapshots(for: 1).explanation().decision.action != .serve {
      try Task.checkCancellation()
      await Task.yield()
    }
    #expect(try await inner(1, policy: .cacheOnly) == "outer again")
  }
}
