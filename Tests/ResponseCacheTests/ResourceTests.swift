import CacheCore
import ResponseCache
import ResponseCacheTesting
import Synchronization
import Testing

@Suite struct ResourceTests {
  struct NoNetwork: Error, Equatable {}
  enum Unit: String { case celsius, fahrenheit }
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

  final class Warnings: Sendable {
    private let errors = Mutex<[CacheError]>([])
    var codes: [CacheError.Code] { errors.withLock { $0.map(\.code) } }
    func add(_ error: CacheError) { errors.withLock { $0.append(error) } }
  }

  private func cache() async throws -> Cache {
    try await Cache.inMemory(clock: clock, warn: { [warnings] in warnings.add($0) })
  }

  private func weather(
    _ cache: Cache, staleIfError: Duration = .seconds(1_000), staleWhileRevalidate: Duration = .zero
  ) -> Resource<String, Weather> {
    cache.resource(
      "weather", freshFor: .seconds(100), staleIfError: staleIfError, staleWhileRevalidate: staleWhileRevalidate,
      fetch: origin.fetch)
  }

  @Test func itBehavesAsItsOwnCheckSays() async throws {
    try await checkResource(queries: ("Bern", "Quito"), values: (Weather(city: "Bern"), Weather(city: "Quito"))) {
      $0.resource("weather", freshFor: .seconds(600), fetch: $1)
    }
    try await checkResource(value: 1.5) { $0.resource("rate", fetch: $1) }
    try await checkResource(queries: (1, 2), values: ("one", "two")) { $0.resource("numbers", fetch: $1) }
    try await checkResource(queries: (Unit.celsius, .fahrenheit), values: ([1], [2])) {
      $0.resource("units", fetch: $1)
    }
    try await checkResource(queries: (Scale.celsius, .fahrenheit), values: ([1], [2])) {
      $0.resource("scales", fetch: $1)
    }
    let places = (Place(city: "Bern", unit: .celsius), Place(city: "Bern", unit: .fahrenheit))
    try await checkResource(queries: places, values: (Weather(city: "Bern"), Weather(city: "Bern", celsius: 48))) {
      $0.resource("places", staleWhileRevalidate: .seconds(5), key: { "\($0.city)/\($0.unit)" }, fetch: $1)
    }
  }

  @Test(.timeLimit(.minutes(30))) func theCheckFindsAResourceThatDoesNotAskItsOrigin() async throws {
    let defects = await #expect(throws: ResourceDefects.self) {
      try await checkResource(queries: (1, 2), values: ("a", "b")) { cache, _ in
        cache.resource("texts", freshFor: .seconds(10)) { (query: Int) in query == 1 ? "a" : "b" }
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
        cache.resource("weather", key: { (_: String) in "" }, fetch: fetch)
      }
    }
    #expect(defects?.descriptions.contains("a fetch of another query returned another value than the origin's") == true)
  }

  @Test func aStaleValueIsServedAfterAnyErrorAndTheErrorIsAWarning() async throws {
    let weather = weather(try await cache())
    _ = try await weather("Bern")
    clock.advance(by: .seconds(100))
    origin.fail(with: NoNetwork())
    #expect(try await weather("Bern") == Weather(city: "Bern"))
    #expect(warnings.codes == [.originUnreachable])
    clock.advance(by: .seconds(1_000))
    await #expect(throws: NoNetwork()) { try await weather("Bern") }
  }

  @Test func anAnswerMayBeFreshForever() async throws {
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
    let weather = weather(try await cache())
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
    let weather = weather(try await cache())
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
    let weather = weather(try await cache())
    let error = await #expect(throws: CacheError.self) { try await weather("Bern", policy: .cacheOnly) }
    #expect(error?.code == .notCached)
    #expect(origin.queries.isEmpty)
  }

  @Test func aStaleValueIsServedWhileItIsRevalidated() async throws {
    let cache = try await cache()
    let weather = weather(cache, staleWhileRevalidate: .seconds(50))
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
    let weather = weather(try await cache())
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
    let old = cache.resource("weather") { (_: String) in ["an", "older", "type"] }
    _ = try await old("Bern")
    let error = await #expect(throws: CacheError.self) { try await weather(cache)("Bern", policy: .cacheOnly) }
    #expect(error?.code == .wrongType)
    #expect(try await weather(cache)("Bern") == Weather(city: "Bern"))
    #expect(warnings.codes == [.wrongType])
    #expect(try await weather(cache)("Bern") == Weather(city: "Bern"))
    #expect(origin.queries.count == 1)
  }

  @Test func anotherVersionHasEntriesOfItsOwn() async throws {
    let cache = try await cache()
    let old = cache.resource("weather") { (_: String) in "sunny" }
    let new = cache.resource("weather", version: 2) { (_: String) in "rain" }
    _ = try await old("Bern")
    #expect(try await new("Bern") == "rain")
    #expect(warnings.codes.isEmpty)
    #expect(try await old.removeAll() == 2)
  }

  @Test func aResourceWithoutAQueryHasOneValue() async throws {
    let cache = try await cache()
    let calls = FakeOrigin { (_: Int) in 7 }
    let number = cache.resource("number") { try await calls.fetch(0) }
    #expect(try await number() == 7)
    #expect(try await number() == 7)
    #expect(calls.queries.count == 1)
    for try await snapshot in number.snapshots(policy: .cacheOnly) { #expect(snapshot.value == 7) }
    #expect(try await number.invalidate(()))
  }

  @Test func aFetchIsExplained() async throws {
    let weather = weather(try await cache())
    #expect(try await weather.snapshots(for: "Bern").explanation().decision.action == .fetch)
    _ = try await weather("Bern")
    let explanation = try await weather.snapshots(for: "Bern").explanation()
    #expect(explanation.decision.action == .serve)
    #expect(explanation.key == "weather/v1/query=Bern/version=1")
  }

  @Test(arguments: ["Weather", "user-profile", "", "9lives", "values", "url", "leases"])
  func aNameThatIsNotANamespaceIsAnError(name: String) async throws {
    let resource = try await cache().resource(name) { (number: Int) in number }
    let error = await #expect(throws: CacheError.self) { try await resource(1) }
    #expect(error?.code == .invalidKey)
    #expect(error?.hint.isEmpty == false)
  }

  @Test func aCancelledCallerGetsACancellationErrorAndTheOthersTheirValue() async throws {
    let weather = weather(try await cache())
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

  @Test(arguments: ["values", "url", "leases", "", "Weather", "weather/v1", "values/v1/key="])
  func aResourceOfAnotherNameTouchesNothing(name: String) async throws {
    let cache = try await cache()
    try await cache.set(1, for: "number")
    _ = try await weather(cache)("Bern")
    let other = cache.resource(name, fetch: origin.fetch)
    let calls: [@Sendable () async throws -> Void] = [
      { _ = try await other("Bern") }, { try await other.remove("Bern") }, { try await other.removeAll() },
      { try await other.invalidate("Bern") }, { try await other.invalidateAll() },
    ]
    for call in calls {
      let error = await #expect(throws: CacheError.self) { try await call() }
      #expect(error?.code == .invalidKey)
    }
    #expect(try await cache.value(Int.self, for: "number") == 1)
    #expect(try await weather(cache)("Bern", policy: .cacheOnly) == Weather(city: "Bern"))
    #expect(origin.queries.count == 1)
  }
}
