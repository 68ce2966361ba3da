public import StorageSPI

/// Replaces an engine that could not be opened: every call fails with the reason.
///
/// This makes a damaged or unreachable store look like any other failing storage, which a fetch can do without.
public final class UnavailableEngine: StorageEngine {
  private let reason: StorageError

  /// Creates an engine that always fails with `reason`.
  public init(reason: StorageError) {
    self.reason = reason
  }

  /// Fails.
  public func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(StorageError) -> Output
  ) async throws(StorageError) -> Output? { throw reason }

  /// Fails.
  public func apply(_ batch: WriteBatch) async throws(StorageError) { throw reason }

  /// Fails.
  public func scan(_ range: KeyRange, limit: Int) async throws(StorageError) -> [EntrySummary] { throw reason }

  /// Fails.
  public func statistics() async throws(StorageError) -> StorageStatistics { throw reason }

  /// Fails.
  public func checkIntegrity() async throws(StorageError) -> [IntegrityIssue] { throw reason }

  /// Fails.
  public func compact() async throws(StorageError) { throw reason }

  /// Does nothing: nothing is open.
  public func close() async throws(StorageError) {}
}
