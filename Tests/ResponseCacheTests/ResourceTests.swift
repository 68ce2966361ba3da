import CacheCore
import EngineAPI
import HTTPCaching
import MemoryStorage
@testable import ResponseCache
import ResponseCacheTesting
import Synchronization
import Testing

@Suite struct ResourceTests {
  struct NoNetwork: Error, Equatable {}
  enum Unit: String, Codable { case celsius, fahrenheit }
  enum Scale: String, LosslessStringConvertible {
    case celsius, fahrenheit
    init?(_ description: String) { self.init(rawValue: description) }
    var description: String { rawValue }
  }
  struct Place: Sendable, Hashable {
    let city: String
    let unit: Unit
  }
  struct Weather: Codable, Sendable, Equatable {
    let city: String
    var celsius = 9
  }

  let clock = ManualClock()
  let warnings = Warnings()
  let origin = FakeOrigin { (city: String) in Weather(city: city) }

  private func cache() async throws -> Cache {
    try await Cache.inMemory(clock: clock, warn: { [warnings] in warnings.add($0) })
  }

  private func weather(
    _ cache: Cache, staleIfError: Duration = .seconds(1_000), staleWhileRevalidate: Duration = .zero
  ) throws -> Resource<String, Weather> {
    try cache.resource(
      "weather", freshFor: .seconds(100), staleIfError: staleIfError, staleWhileRevalidate: staleWhileRevalidate,
      fetch: origin.fetch)
  }

  @Test func itBehavesAsItsOwnCheckSays() async throws {
    try await checkResource(queries: ("Bern", "Quito"), values: (Weather(city: "Bern"), Weather(city: "Quito"))) {
      try $0.resource("weather", freshFor: .seconds(600), fetch: $1)
    }
    try await checkResource(value: 1.5) { try $0.resource("rate", fetch: $1) }
    try await checkResource(value: 1.5) { try $0.resource("rate", singleFlight: .off, fetch: $1) }
    try await checkResource(queries: (1, 2), values: ("one", "two")) { try $0.resource("numbers", fetch: $1) }
    try await checkResource(queries: (Unit.celsius, .fahrenheit), values: ([1], [2])) {
      try $0.resource("units", fetch: $1)
    }
    try await checkResource(queries: (Scale.celsius, .fahrenheit), values: ([1], [2])) {
      try $0.resource("scales", fetch: $1)
    }
    let places = (Place(city: "Bern", unit: .celsius), Place(city: "Bern", unit: .fahrenheit))
    try await checkResource(queries: places, values: (Weather(city: "Bern"), Weather(city: "Bern", celsius: 48))) {
      try $0.resource("places", staleWhileRevalidate: .seconds(5), key: { "\($0.city)/\($0.unit)" }, fetch: $1)
    }
  }

  @Test(.timeLimit(.minutes(30))) func theCheckFindsAResourceThatDoesNotAskItsOrigin() async throws {
    let defects = await #expect(throws: ResourceDefects.self) {
      try await checkResource(queries: (1, 2), values: ("a", "b")) { cache, _ in
        try cache.resource("texts", freshFor: .seconds(10)) { (query: Int) in query == 1 ? "a" : "b" }
      }
    }
    #expect(defects?.descriptions.first == "the first fetch made 0 requests instead of 1")
  }

  @Test(.timeLimit(.minutes(30))) func aCancelledTestWaitsForNoArrival() async {
    let origin = FakeOrigin { (_: Int) in "a" }
    let waiting = Task { await origin.arrival(of: 1) }
    waiting.cancel()
    await waiting.value
  }

  @Test func theCheckFindsAResourceThatMixesItsQueries() async throws {
    let defects = await #expect(throws: ResourceDefects.self) {
      try await checkResource(queries: ("Bern", "Quito"), values: (1, 2)) { cache, fetch in
        try cache.resource("weather", key: { (_: String) in "" }, fetch: fetch)
      }
    }
    #expect(defects?.descriptions.contains("a fetch of another query returned another value than the origin's") == true)
  }

  @Test func aStaleValueIsServedAfterAnyErrorAndTheErrorIsAWarning() async throws {
    let weather = try weather(try await cache())
    _ = try await weather("Bern")
    clock.advance(by: .seconds(100))
    origin.fail(with: NoNetwork())
    #expect(try await weather("Bern") == Weather(city: "Bern"))
    #expect(warnings.codes == [.originUnreachable])
    clock.advance(by: .seconds(1_000))
    await #expect(throws: NoNetwork()) { try await weather("Bern") }
  }

  @Test func aValueCanBeFreshForever() async throws {
    let forever = Duration.seconds(Int64.max)
    let weather = try await cache().resource(
      "weather", freshFor: forever, staleIfError: forever, staleWhileRevalidate: forever, fetch: origin.fetch)
    _ = try await weather("Bern")
    clock.advance(by: .seconds(1_000_000_000))
    #expect(try await weather("Bern", maxAge: forever, maxStale: forever) == Weather(city: "Bern"))
    #expect(origin.queries.count == 1)
    #expect(warnings.codes == [])
  }

  @Test func theClosuresErrorReachesEveryCallerThatWaited() async throws {
    let weather = try weather(try await cache())
    origin.fail(with: NoNetwork())
    origin.hold()
    let errors = await withTaskGroup(of: (any Error)?.self) { group in
      for _ in 0..<5 {
        group.addTask {
          do {
            _ = try await weather("Bern")
            return nil
          } catch { return error }
        }
      }
      await origin.arrival(of: 1)
      origin.release()
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(errors.allSatisfy { $0 is NoNetwork })
  }

  @Test func theCachedValueComesFirstAndThenTheOrigins() async throws {
    let weather = try weather(try await cache())
    _ = try await weather("Bern")
    origin.answer { Weather(city: $0, celsius: 10) }
    var shown: [(Int, Snapshot<Weather>.Source)] = []
    for try await snapshot in weather.snapshots(for: "Bern", policy: .cachedThenNetwork) {
      shown.append((snapshot.value.celsius, snapshot.source))
    }
    #expect(shown.map(\.0) == [9, 10])
    #expect(shown.map(\.1) == [.cache, .origin])
  }

  @Test func onlyTheCacheIsUsedIfThePolicySaysSo() async throws {
    let weather = try weather(try await cache())
    let error = await #expect(throws: CacheError.self) { try await weather("Bern", policy: .cacheOnly) }
    #expect(error?.code == .notCached)
    #expect(origin.queries.isEmpty)
  }

  @Test func aStaleValueIsServedWhileItIsRevalidated() async throws {
    let cache = try await cache()
    let weather = try weather(cache, staleWhileRevalidate: .seconds(50))
    _ = try await weather("Bern")
    origin.answer { Weather(city: $0, celsius: 10) }
    clock.advance(by: .seconds(120))
    #expect(try await weather("Bern").celsius == 9)
    await origin.arrival(of: 2)
    // Fetches of the same query wait for the revalidation.
    #expect(try await weather("Bern", policy: .networkOnly).celsius == 10)
    try await cache.close()
  }

  @Test func maxAgeAndMaxStaleMoveTheLimit() async throws {
    let weather = try weather(try await cache())
    _ = try await weather("Bern")
    clock.advance(by: .seconds(50))
    _ = try await weather("Bern", maxAge: .seconds(49))
    #expect(origin.queries.count == 2)
    clock.advance(by: .seconds(110))
    _ = try await weather("Bern", maxStale: .seconds(10))
    #expect(origin.queries.count == 2)
    _ = try await weather("Bern", maxStale: .seconds(9))
    #expect(origin.queries.count == 3)
  }

  @Test func anEntryThatCannotBeDecodedIsFetchedAgainWithAWarning() async throws {
    let cache = try await cache()
    let key = try CacheKey(for: ResourceRequest(name: "weather", query: "Bern", version: 1))
    try await cache.store.write(
      key, payload: Array(#"["an", "older", "type"]"#.utf8),
      metadata: EntryMetadata(
        storedAt: clock.now, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: "application/json"))
    let error = await #expect(throws: CacheError.self) { try await weather(cache)("Bern", policy: .cacheOnly) }
    #expect(error?.code == .wrongType)
    #expect(try await weather(cache)("Bern") == Weather(city: "Bern"))
    #expect(warnings.codes == [.wrongType] && warnings.all.map(\.phase) == [.reading])
    #expect(try await weather(cache)("Bern") == Weather(city: "Bern"))
    #expect(origin.queries.count == 1)
  }

  @Test func anotherVersionHasSeparateEntries() async throws {
    let cache = try await cache()
    let old = try cache.resource("weather") { (_: String) in "sunny" }
    let new = try cache.resource("weather", version: 2) { (_: String) in "rain" }
    _ = try await old("Bern")
    #expect(try await new("Bern") == "rain")
    #expect(warnings.codes.isEmpty)
    #expect(try await old.removeAll() == 2)
  }

  @Test func aResourceWithoutAQueryHasOneValue() async throws {
    let cache = try await cache()
    let calls = FakeOrigin { (_: Int) in 7 }
    let number = try cache.resource("number") { try await calls.fetch(0) }
    #expect(try await number() == 7)
    #expect(try await number() == 7)
    #expect(calls.queries.count == 1)
    for try await snapshot in number.snapshots(policy: .cacheOnly) { #expect(snapshot.value == 7) }
    #expect(try await number.invalidate())
    #expect(try await number.remove())
  }

  @Test func aFetchIsExplained() async throws {
    let weather = try weather(try await cache())
    #expect(try await weather.snapshots(for: "Bern").explanation().decision.action == .fetch)
    _ = try await weather("Bern")
    let explanation = try await weather.snapshots(for: "Bern").explanation()
    #expect(explanation.decision.action == .serve)
    #expect(explanation.key == "weather/v1/query=Bern/version=1")
  }

  @Test(arguments: ["Weather", "user-profile", "", "9lives", "weather/v1", "values", "values/v1/key=", "url", "leases"])
  func aResourceIsNotMadeWithANameThatCannotBeItsOwn(name: String) async throws {
    let cache = try await cache()
    let error = #expect(throws: CacheError.self) { try cache.resource(name) { (number: Int) in number } }
    #expect(error?.code == .invalidKey)
    #expect(error?.message.contains("ResourceTests.swift:") == true)
    #expect(error?.hint.isEmpty == false)
  }

  @Test func twoPlacesInTheProgramCannotMakeAResourceOfOneName() async throws {
    let cache = try await cache()
    for _ in 0..<2 { _ = try cache.resource("numbers") { (number: Int) in number } }
    let line = #line + 1
    let error = #expect(throws: CacheError.self) { try cache.resource("numbers") { (text: String) in text } }
    #expect(error?.code == .invalidKey)
    let fault = try #require(error?.message)
    #expect(
      fault.contains("ResourceTests.swift:\(line - 2), ") && fault.hasSuffix("ResourceTests.swift:\(line)"), "\(fault)")
    _ = try cache.resource("numbers", version: 2) { (text: String) in text }
    _ = try await self.cache().resource("numbers") { (text: String) in text }
  }

  @Test func twoPlacesInTheProgramCannotMakeACodecOfOneNameAndType() async throws {
    let cache = try await cache()
    func codec() -> PayloadCodec<Int> { PayloadCodec("number", encode: { [UInt8($0)] }, decode: { Int($0[0]) }) }
    let other = PayloadCodec<Int>("number", encode: { [UInt8($0 + 1)] }, decode: { Int($0[0]) - 1 })
    let text = PayloadCodec<String>(
      "number", encode: { Array($0.utf8) }, decode: { String(decoding: $0, as: UTF8.self) })
    _ = try cache.resource("ones", key: { (number: Int) in number }, codec: codec()) { $0 }
    _ = try cache.resource("twos", key: { (number: Int) in number }, codec: codec()) { $0 }
    _ = try cache.resource("texts", key: { (number: Int) in number }, codec: text) { "\($0)" }
    let error = #expect(throws: CacheError.self) {
      try cache.resource("threes", key: { (number: Int) in number }, codec: other) { $0 }
    }
    #expect(error?.code == .invalidKey)
    #expect(error?.message.hasPrefix("two codecs of Int are called 'number': one is made at ") == true)
    _ = try cache.resource("threes", key: { (number: Int) in number }, codec: codec()) { $0 }
  }

  private enum Cities { struct Page: Sendable {} }
  private enum Movies { struct Page: Sendable {} }

  @Test func twoTypesOfOneNameCanHaveCodecsOfOneName() async throws {
    let cache = try await cache()
    _ = try cache.resource(
      "cities", key: { (page: Int) in page }, codec: PayloadCodec("page", encode: { _ in [] }) { _ in Cities.Page() }
    ) { _ in Cities.Page() }
    _ = try cache.resource(
      "movies", key: { (page: Int) in page }, codec: PayloadCodec("page", encode: { _ in [] }) { _ in Movies.Page() }
    ) { _ in Movies.Page() }
  }

  @Test func aQueryThatCannotBeEncodedIsAnError() async throws {
    let halves = try await cache().resource("halves") { (numbers: [Double]) in numbers.map { $0 / 2 } }
    #expect(try await halves([1, 3]) == [0.5, 1.5])
    for call in [{ _ = try await halves([.nan]) }, { try await halves.remove([.nan]) }] {
      let error = await #expect(throws: CacheError.self) { try await call() }
      #expect(error?.code == .invalidRequest)
    }
  }

  @Test func aValueThatIsNeverStaleIsNotServedWhateverTheCallAllows() async throws {
    let origin = FakeOrigin { (_: Int) in 1 }
    let token = try await cache().resource("token", freshFor: .seconds(100), staleWhileRevalidate: .seconds(1_000)) {
      Fetched(try await origin.fetch(0), freshFor: .seconds(10), staleFor: .zero)
    }
    _ = try await token()
    clock.advance(by: .seconds(10))
    origin.fail(with: NoNetwork())
    let error = await #expect(throws: CacheError.self) { try await token(policy: .cacheOnly) }
    #expect(error?.code == .notCached)
    for maxStale in [nil, Duration.seconds(1_000)] {
      await #expect(throws: NoNetwork.self) { try await token(maxStale: maxStale) }
    }
  }

  /// Such as one that cancels its request after a time.
  @Test func aClosureThatCancelsItsOwnWorkHasFailed() async throws {
    let weather = try weather(try await cache())
    origin.fail(with: CancellationError())
    await #expect(throws: CancellationError.self) { try await weather("Bern") }
    origin.fail(with: nil)
    _ = try await weather("Bern")
    clock.advance(by: .seconds(500))
    origin.fail(with: CancellationError())
    #expect(try await weather("Bern") == Weather(city: "Bern"))
    #expect(warnings.codes == [.originUnreachable])
  }

  @Test func aClosureSaysHowLongItsValueIsFreshAndStale() async throws {
    let times = Mutex<(fresh: Duration?, stale: Duration?)>((.seconds(10), .seconds(5)))
    let source = origin
    let token = try await cache().resource("token", freshFor: .seconds(100), staleIfError: .seconds(1_000)) {
      let value = try await source.fetch("token")
      let (fresh, stale) = times.withLock { $0 }
      return Fetched(value.city, freshFor: fresh, staleFor: stale)
    }
    _ = try await token()
    clock.advance(by: .seconds(9))
    _ = try await token()
    #expect(origin.queries.count == 1)
    origin.fail(with: NoNetwork())
    clock.advance(by: .seconds(5))
    _ = try await token()
    #expect(origin.queries.count == 2, "it is stale, and served because the closure failed")
    clock.advance(by: .seconds(2))
    await #expect(throws: NoNetwork()) { try await token() }
    origin.fail(with: nil)
    times.withLock { $0 = (nil, nil) }
    _ = try await token()
    let asked = origin.queries.count
    clock.advance(by: .seconds(99))
    _ = try await token()
    #expect(origin.queries.count == asked, "by default the times of the resource hold")
    times.withLock { $0 = (.zero, nil) }
    clock.advance(by: .seconds(1))
    for _ in 0..<3 { _ = try await token() }
    #expect(origin.queries.count == asked + 3, "each caller fetches a value that is never fresh")
  }

  @Test func aClosureWithAQuerySaysHowLongItsValueIsFresh() async throws {
    let source = origin
    let signed = try await cache().resource("signed") { (path: String) in
      Fetched(try await source.fetch(path).city, freshFor: .seconds(10))
    }
    for _ in 0..<2 { #expect(try await signed("/a") == "/a") }
    clock.advance(by: .seconds(10))
    _ = try await signed("/a")
    #expect(origin.queries.count == 2)
  }

  @Test(arguments: SingleFlight.allCases) func callersShareACallAsFarAsTheResourceSays(sharing: SingleFlight)
    async throws
  {
    let engine = try await StorageLocation.memory.open(clock: clock)
    let caches = (0..<2).map { _ in
      let store = EntryStore(engine: engine, clock: clock, leases: LeaseOptions(maximumWait: nil))
      return Cache(
        store: store,
        services: FetchServices(
          rules: HTTPCacheRules(freshness: .standard), now: { [clock] in clock.now.sinceEpoch },
          coalescer: store.coalescer), warn: { _ in })
    }
    let resources = try caches.map { try $0.resource("weather", singleFlight: sharing, fetch: origin.fetch) }
    let requests =
      switch sharing {
      case .acrossProcesses: 1
      case .withinProcess: 2
      case .off: 4
      }
    origin.hold()
    let calls = resources.flatMap { resource in (0..<2).map { _ in Task { try await resource("Bern") } } }
    await origin.arrival(of: requests)
    origin.release()
    for call in calls { _ = try await call.value }
    if sharing == .off { #expect(origin.queries.count == 4) } else { #expect(origin.queries.count <= requests) }
  }

  @Test func aCancelledCallerGetsACancellationErrorAndTheOthersTheirValue() async throws {
    let weather = try weather(try await cache())
    origin.hold()
    let cancelled = Task { try await weather("Bern") }
    await origin.arrival(of: 1)
    let other = Task { try await weather("Bern") }
    cancelled.cancel()
    origin.release()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    #expect(try await other.value == Weather(city: "Bern"))
  }

  @Test func snapshotsAreFakedInOneLine() async throws {
    let snapshots = SnapshotSequence(Weather(city: "Bern"), Weather(city: "Quito"))
    var cities: [String] = []
    for try await snapshot in snapshots { cities.append(snapshot.value.city) }
    #expect(cities == ["Bern", "Quito"])
  }
}
