internal import StorageSPI

/// Takes the place of the engine in phases that open the store themselves: every use is an error.
final class ClosedEngine: StorageEngine {
  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(StorageError) -> Output
  ) async throws(StorageError) -> Output? { throw .storeClosed }

  func apply(_ batch: WriteBatch) async throws(StorageError) { throw .storeClosed }

  func scan(_ range: KeyRange, limit: Int) async throws(StorageError) -> [EntrySummary] { throw .storeClosed }

  func statistics() async throws(StorageError) -> StorageStatistics { throw .storeClosed }

  func checkIntegrity() async throws(StorageError) -> [IntegrityIssue] { throw .storeClosed }

  func compact() async throws(StorageError) { throw .storeClosed }

  func close() async throws(StorageError) {}
}
