import CacheData
import CacheDomain
import CacheCore
import EngineConformance
import EngineAPI
import TestStorage
import Testing

/// A store that cannot be opened.
struct AwayEngineTests {
  private static let reason = CacheError(.unreachable, "the server is away", hint: "start it")

  private let engine = AwaitedEngine(after: reason, clock: ManualClock(Timestamp(milliseconds: 0))) {
    _ throws(CacheError) in throw AwayEngineTests.reason
  }

  private var store: EntryStore { EntryStore(engine: engine, clock: ManualClock(Timestamp(milliseconds: 0))) }

  @Test func everyCallOfTheEngineFailsWithTheReason() async throws {
    let key = try CacheKey("cities/v1")
    let calls: [@Sendable (AwaitedEngine) async throws -> Void] = [
      { _ = try await $0.read(key) { bytes, _ in bytes.count } },
      { try await $0.apply(WriteBatch()) },
      { _ = try await $0.scan(ScanRequest()) },
      { _ = try await $0.count() },
      { _ = try await $0.check() },
      { try await $0.compact() },
    ]
    for call in calls {
      let error = await #expect(throws: CacheError.self) { try await call(engine) }
      #expect(error?.description == Self.reason.description)
    }
    try await engine.close()
    try await engine.close()
  }

  @Test func everythingOverItFailsWithTheSameCodeMessageAndHint() async throws {
    let cities = EngineCityResponseStorage(store: store)
    let queries = DefaultMovieQueriesRepository(store: store, maximumCount: 10)
    let administration = StoreAdministration(store)
    let request = CitiesRequestDTO(origin: "o", query: CitiesQuery())
    let (key, query) = (try CacheKey("cities/v1"), try #require(MovieQuery("a")))
    let head = StoredHead(
      head: HTTPResponseHead(status: 200), storedAt: .zero, freshUntil: .zero, retainUntil: .zero)
    let calls: [@Sendable () async throws -> Void] = [
      { _ = try await cities.response(for: request) },
      {
        try await cities.store(CitiesPageDTO(.sample), head: head, for: request)
      },
      { _ = try await queries.recentQueries() },
      { try await queries.save(query) },
      { _ = try await administration.entry(key) },
      { _ = try await administration.list(EntrySelection(), after: nil, limit: 1) },
      { _ = try await administration.change(.remove, EntrySelection(), dryRun: true) },
      { _ = try await administration.change(.remove, keys: [key], dryRun: true) },
      { _ = try await administration.statistics() },
    ]
    for call in calls {
      let error = await #expect(throws: CacheError.self) { try await call() }
      #expect(error?.code.rawValue == "unreachable")
      #expect(error?.message == Self.reason.message)
      #expect(error?.hint == Self.reason.hint)
    }
    #expect(store.uses.counts == OperationCounts())
    try await store.close()
  }
}
