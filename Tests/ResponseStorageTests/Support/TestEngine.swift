import CacheData
import CacheDomain
import EngineSupport
import MemoryStorage
import ResponseStorage
import StorageConformance
import StorageSPI
import Synchronization

/// An engine in front of another one that changes what reads return, and can make writes fail.
final class TestEngine: StorageEngine {
  typealias Entry = (key: CacheKey, payload: [UInt8], metadata: EntryMetadata)

  private struct State {
    var alter: @Sendable (Entry) -> Entry = { $0 }
    var conflicts = 0
    var overtaking: WriteBatch?
    var cancelsAfter: Int?
    var batches = 0
    var reads = 0
    var failure: CacheError?
  }

  private let state = Mutex(State())
  private let base: any StorageEngine

  init(over base: any StorageEngine) { self.base = base }

  /// The number of batches tried.
  var batches: Int { state.withLock { $0.batches } }

  /// The number of reads tried.
  var reads: Int { state.withLock { $0.reads } }

  /// Makes every read and batch fail with `error` from now on; `nil` ends that.
  func breakDown(_ error: CacheError?) { state.withLock { $0.failure = error } }

  /// Makes reads return their entries changed by `change` from now on.
  func alter(_ change: @escaping @Sendable (Entry) -> Entry) { state.withLock { $0.alter = change } }

  /// Applies `batch` just before the next batch, as a faster writer would.
  func overtake(by batch: WriteBatch) { state.withLock { $0.overtaking = batch } }

  /// Cancels the calling task after `count` more batches.
  func cancelCaller(after count: Int) { state.withLock { $0.cancelsAfter = $0.batches + count } }

  /// Refuses the next `count` batches, as if another writer had been faster.
  func refuse(_ count: Int) { state.withLock { $0.conflicts = count } }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    let failure = state.withLock { state in
      state.reads += 1
      return state.failure
    }
    if let failure { throw failure }
    let found = try await base.read(key) { bytes, metadata throws(CacheError) in
      EntryTable.Entry(payload: bytes.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
    }
    guard let found else { return nil }
    let altered = state.withLock { $0.alter }((key, found.payload, found.metadata))
    return try body(altered.payload.span, altered.metadata)
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    let isRefused = state.withLock { state in
      state.batches += 1
      defer { state.conflicts = max(0, state.conflicts - 1) }
      return state.conflicts > 0
    }
    if let failure = state.withLock({ $0.failure }) { throw failure }
    if isRefused { throw CacheError(.conflict, "another writer was faster") }
    if let faster = state.withLock({ $0.overtaking.take() }) { try await base.apply(faster) }
    try await base.apply(batch)
    if state.withLock({ $0.batches == $0.cancelsAfter }) { withUnsafeCurrentTask { $0?.cancel() } }
  }

  func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    try await base.scan(range, limit: limit)
  }

  func statistics() async throws(CacheError) -> StorageStatistics { try await base.statistics() }
  func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] { try await base.checkIntegrity() }
  func compact() async throws(CacheError) { try await base.compact() }
  func close() async throws(CacheError) { try await base.close() }
}

/// A store over the memory engine at second 1,000, fully controlled by the test.
struct TestStore {
  let clock = ManualClock(Timestamp(milliseconds: 1_000_000))
  let engine: TestEngine
  let store: EntryStore

  init() async throws {
    let plugin = MemoryPlugin()
    engine = TestEngine(over: try await plugin.open(EngineConfiguration(for: plugin.declaration, clock: clock)))
    store = EntryStore(engine: engine, clock: clock)
  }

  var cities: EngineCityResponseStorage { EngineCityResponseStorage(store: store) }
  var posters: EnginePosterResponseStorage { EnginePosterResponseStorage(store: store) }

  func queries(_ maximumCount: Int = 10) -> EngineMovieQueriesStorage {
    EngineMovieQueriesStorage(store: store, maximumCount: maximumCount)
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
    let entries = try await engine.scan(KeyRange(), limit: 2)
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
