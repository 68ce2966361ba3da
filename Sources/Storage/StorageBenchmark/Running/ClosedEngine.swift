internal import StorageSPI

/// Takes the place of the engine in phases that open the store themselves: every use is an error.
final class ClosedEngine: StorageEngine {
  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? { throw .storeClosed }

  func apply(_ batch: WriteBatch) async throws(CacheError) { throw .storeClosed }

  func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] { throw .storeClosed }

  func statistics() async throws(CacheError) -> StorageStatistics { throw .storeClosed }

  func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] { throw .storeClosed }

  func compact() async throws(CacheError) { throw .storeClosed }

  func close() async throws(CacheError) {}
}
