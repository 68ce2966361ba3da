public import StorageSPI

/// Replaces an engine that could not be opened: every call fails with the reason.
///
/// This makes a damaged or unreachable store look like any other failing storage, which a fetch can do without.
public final class UnavailableEngine: StorageEngine {
  private let reason: CacheError

  /// Creates an engine that always fails with `reason`.
  public init(reason: CacheError) {
    self.reason = reason
  }

  /// Fails.
  public func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? { throw reason }

  /// Fails.
  public func apply(_ batch: WriteBatch) async throws(CacheError) { throw reason }

  /// Fails.
  public func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] { throw reason }

  /// Fails.
  public func statistics() async throws(CacheError) -> StorageStatistics { throw reason }

  /// Fails.
  public func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] { throw reason }

  /// Fails.
  public func compact() async throws(CacheError) { throw reason }

  /// Does nothing: nothing is open.
  public func close() async throws(CacheError) {}
}
