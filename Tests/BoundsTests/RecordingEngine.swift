import StorageSPI
import Synchronization

/// An engine in front of another one, which notes what it is asked to do, and may let others be faster.
final class RecordingEngine: StorageEngine {
  private struct State {
    var scanned = 0
    var batches: [WriteBatch] = []
    var before: (@Sendable (Int) async throws(CacheError) -> Void)?
  }

  let base: any StorageEngine
  private let state = Mutex(State())

  init(over base: any StorageEngine) { self.base = base }

  /// How many scans there were.
  var scans: Int { state.withLock { $0.scanned } }

  /// The batches that were tried.
  var batches: [WriteBatch] { state.withLock { $0.batches } }

  /// From now on `body` is called before each batch, with the number of batches so far.
  func before(_ body: @escaping @Sendable (Int) async throws(CacheError) -> Void) {
    state.withLock { $0.before = body }
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? { try await base.read(key, body) }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    let (body, number) = state.withLock { state in
      state.batches.append(batch)
      return (state.before, state.batches.count - 1)
    }
    if let body { try await body(number) }
    try await base.apply(batch)
  }

  func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    state.withLock { $0.scanned += 1 }
    return try await base.scan(range, limit: limit)
  }

  func statistics() async throws(CacheError) -> StorageStatistics { try await base.statistics() }
  func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] { try await base.checkIntegrity() }
  func compact() async throws(CacheError) { try await base.compact() }
  func close() async throws(CacheError) { try await base.close() }
}

extension WriteBatch {
  /// How many entries it removes.
  var removals: Int {
    operations.count { operation in
      if case .remove = operation { true } else { false }
    }
  }
}
