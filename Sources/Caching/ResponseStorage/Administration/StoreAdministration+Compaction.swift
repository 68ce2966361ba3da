public import FetchVocabulary
internal import StorageSPI

extension StoreAdministration {
  /// Removes expired entries, and returns unused space to the file system.
  ///
  /// - Throws: `CacheError`: the engine failed; all unexpired entries are still there.
  public func compact() async throws(CacheError) -> CompactionReport {
    let before = try await StoreCount(store.engine)
    try await store.engine.compact()
    return CompactionReport(before: .init(before), after: .init(try await StoreCount(store.engine)))
  }
}
