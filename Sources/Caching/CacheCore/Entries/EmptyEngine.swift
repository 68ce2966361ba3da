package import EngineAPI

/// Takes the place of the engine of a store that does not exist, for commands that only read or remove: it holds nothing,
/// keeps nothing, and creates nothing.
package final class EmptyEngine: StorageEngine {
  package init() {}

  package func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? { nil }

  package func apply(_ batch: WriteBatch) async throws(CacheError) {}

  package func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage { ScanPage([], next: nil) }

  package func count() async throws(CacheError) -> StoreCount { StoreCount() }

  package func check() async throws(CacheError) -> [IntegrityIssue] { [] }

  package func compact() async throws(CacheError) {}

  package func close() async throws(CacheError) {}
}
