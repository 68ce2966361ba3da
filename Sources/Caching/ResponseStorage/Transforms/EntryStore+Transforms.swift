internal import FetchVocabulary
internal import StorageSPI

/// Reading entries that may have been written with transforms.
extension EntryStore {
  /// Lends what the engine has under `key`, after loading the dictionaries that `body` needs to undo its transforms.
  ///
  /// A body that lacks a dictionary fails with `damaged`; it is called again if the store has the dictionary.
  @inline(__always)
  func lend<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    do throws(CacheError) {
      return try await engine.read(key, body)
    } catch {
      guard error.code == .damaged, try await loadDictionaries(for: key) else { throw error }
    }
    return try await engine.read(key, body)
  }

  /// The metadata of a listed entry, with the attributes that a transform hides.
  ///
  /// - Throws: `CacheError`: `wrongKey`, `damaged`, or `unsupported` if a transform is not set up.
  func revealed(_ entry: EntrySummary) throws(CacheError) -> EntryMetadata {
    guard entry.metadata.attributes[EntryMetadata.hiddenName] != nil else { return entry.metadata }
    return try transforms.revealed(entry.metadata, key: entry.key)
  }
}

extension TransformPipeline {
  /// The payload and the metadata of the entry under `key` as they were before its transforms. Its checksum has been
  /// verified. Not generic, and without a closure: entries without transforms must not pay for it.
  ///
  /// - Throws: `CacheError`, as `decoded(_:_:key:)` does.
  func opened(
    _ payload: Span<UInt8>, _ metadata: EntryMetadata, key: CacheKey
  ) throws(CacheError) -> (payload: [UInt8], metadata: EntryMetadata) {
    (try decoded(payload, metadata, key: key), try revealed(metadata, key: key))
  }
}
