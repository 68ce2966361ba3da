public import CacheDomain
internal import StorageSPI

extension StoreAdministration {
  /// Removes what has expired, and gives the space that is not used back to the file system.
  ///
  /// - Throws: `CacheError`: the engine failed; then all entries are still there that had not expired.
  public func compact() async throws(CacheError) -> CompactionReport {
    do throws(StorageError) {
      let before = try await StoreCount(store.engine)
      try await store.engine.compact()
      return CompactionReport(before: before, after: try await StoreCount(store.engine))
    } catch {
      throw CacheError(error)
    }
  }
}
