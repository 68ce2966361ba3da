import CacheData
import CacheDomain
import MemoryStorage
import CacheCore
import EngineConformance
import EngineAPI
import TestStorage

/// A store over the memory engine at second 1,000, fully controlled by the test.
struct TestStore {
  let clock = ManualClock(Timestamp(milliseconds: 1_000_000))
  let engine: FaultyEngine
  let store: EntryStore

  init() async throws {
    let plugin = MemoryPlugin()
    engine = FaultyEngine(over: try await plugin.open(EngineConfiguration(for: plugin.declaration, clock: clock)))
    store = EntryStore(engine: engine, clock: clock)
  }

  var cities: EngineCityResponseStorage { EngineCityResponseStorage(store: store) }
  var posters: EnginePosterResponseStorage { EnginePosterResponseStorage(store: store) }

  func queries(_ maximumCount: Int = 10) -> DefaultMovieQueriesRepository {
    DefaultMovieQueriesRepository(store: store, maximumCount: maximumCount)
  }

  /// The head of a response stored now, fresh for a minute and kept for five.
  func head(_ tag: String? = nil, fresh: Duration = .seconds(60), kept: Duration = .seconds(300)) -> StoredHead {
    let now = clock.now.sinceEpoch
    return StoredHead(
      head: HTTPResponseHead(status: 200, fields: tag.map { ["ETag": $0] } ?? [:]), storedAt: now,
      freshUntil: now + fresh, retainUntil: now + kept)
  }

  /// The key of the only entry in the store.
  func onlyKey() async throws -> CacheKey? {
    let entries = try await engine.scan(ScanRequest(limit: 2)).entries
    return entries.count == 1 ? entries[0].key : nil
  }
}

/// The code of the error that `body` throws; `nil` if it throws none.
func errorCode(_ body: () async throws(CacheError) -> Void) async -> CacheError.Code? {
  do throws(CacheError) {
    try await body()
    return nil
  } catch {
    return error.code
  }
}

extension CitiesPage {
  static let sample = CitiesPage(
    page: 0, totalPages: 2, totalItems: 26,
    cities: [City(id: "KY/LOUISVILLE", name: "Louisville", subName: "KY", revenue: 12, organizationCount: 3)])
}
