import StorageSPI
import Synchronization

/// An engine in front of another one, to which another process does something at a chosen moment.
final class RacedEngine: StorageEngine {
  /// What the engine is asked to do.
  enum Call {
    case read(CacheKey)
    case apply(WriteBatch)

    /// Whether it is a batch that changes the entry of a dictionary.
    var changesDictionary: Bool {
      guard case .apply(let batch) = self else { return false }
      return batch.operations.contains { operation in
        switch operation {
        case .put(let key, _, _), .remove(let key): key.text.hasPrefix("leases/dictionaries/")
        case .require: false
        }
      }
    }
  }

  private struct Race: Sendable {
    let isDue: @Sendable (Call) -> Bool
    let body: @Sendable () async throws(CacheError) -> Void
  }

  private let base: any StorageEngine
  private let race: Mutex<Race?>

  /// Calls `body` once, before the first call that is due.
  init(
    over base: any StorageEngine, before isDue: @escaping @Sendable (Call) -> Bool,
    _ body: @escaping @Sendable () async throws(CacheError) -> Void
  ) {
    self.base = base
    race = Mutex(Race(isDue: isDue, body: body))
  }

  private func run(before call: Call) async throws(CacheError) {
    let due = race.withLock { race -> Race? in
      guard let due = race, due.isDue(call) else { return nil }
      race = nil
      return due
    }
    try await due?.body()
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    try await run(before: .read(key))
    return try await base.read(key, body)
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    try await run(before: .apply(batch))
    try await base.apply(batch)
  }

  func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    try await base.scan(range, limit: limit)
  }

  func statistics() async throws(CacheError) -> StorageStatistics { try await base.statistics() }
  func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] { try await base.checkIntegrity() }
  func compact() async throws(CacheError) { try await base.compact() }
  func close() async throws(CacheError) { try await base.close() }
}
