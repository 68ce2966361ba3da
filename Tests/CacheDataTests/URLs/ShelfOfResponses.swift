import EngineAPI
import FetchVocabulary
import Synchronization
@testable import CacheCore

/// Responses in memory, in a store that fails on demand. Its clock stands at second 1,000, so that nothing expires.
final class ShelfOfResponses: Sendable {
  private struct Clock: WallClock {
    var now: Timestamp { Timestamp(milliseconds: 1_000_000) }
  }

  private let engine: ShelfEngine
  private let store: EntryStore

  init(failing error: CacheError? = nil) {
    engine = ShelfEngine(error)
    store = EntryStore(engine: engine, clock: Clock(), capabilities: [.ordered, .bounded, .expiring])
  }

  /// The store of `other` as another process has it, which takes leases with the given waits between two looks.
  init(sharing other: ShelfOfResponses, sleep: @escaping @Sendable (Duration) async throws -> Void) {
    engine = other.engine
    store = EntryStore(
      engine: engine, clock: Clock(), capabilities: [.ordered, .bounded, .expiring],
      leases: LeaseOptions(sleep: sleep))
  }

  var responses: URLResponses { URLResponses(store: store) }
  var coalescer: RequestCoalescer { store.coalescer }

  /// Makes storing fail from now on; what is there can still be removed.
  func failToStore(_ error: CacheError) { engine.state.withLock { $0.writeError = error } }

  /// Makes the response under `key` unreadable from now on.
  func damage(_ key: String) { _ = engine.state.withLock { $0.damaged.insert(key) } }

  func removeAll() { engine.state.withLock { $0.table = EntryTable() } }

  private var entries: [ScannedEntry] { engine.state.withLock { $0.table.scan(ScanRequest()).entries } }

  var keys: [String] { entries.map(\.key.text) }

  /// How many responses for `url` there are, without a signpost to them.
  func count(of url: String) -> Int {
    entries.count { $0.key.text.hasPrefix(URLResponses.keyPrefix(of: url)) && !$0.metadata.isSignpost }
  }

  var hits: Int { store.uses.counts.hits }
  var misses: Int { store.uses.counts.misses }
}

/// An engine whose calls fail with `error`, if there is one.
private final class ShelfEngine: StorageEngine {
  struct State {
    var table = EntryTable()
    var writeError: CacheError?
    var damaged: Set<String> = []
  }

  let state = Mutex(State())
  private let error: CacheError?

  init(_ error: CacheError?) { self.error = error }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    if let error { throw error }
    let entry = try state.withLock { state throws(CacheError) in
      if state.damaged.contains(key.text) { throw CacheError(.damaged, "an entry is damaged") }
      return state.table[key]
    }
    guard let entry else { return nil }
    return try body(entry.payload.span, entry.metadata)
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    if let error { throw error }
    try state.withLock { state throws(CacheError) in
      for operation in batch.operations {
        switch operation {
        case .put, .update: if let error = state.writeError { throw error }
        case .remove, .require: break
        }
      }
      _ = try state.table.apply(batch)
    }
  }

  func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    if let error { throw error }
    return state.withLock { $0.table.scan(request) }
  }

  func count() async throws(CacheError) -> StoreCount { state.withLock { $0.table.count } }

  func check() async throws(CacheError) -> [IntegrityIssue] { [] }

  func compact() async throws(CacheError) {}

  func close() async throws(CacheError) {}
}
