internal import FetchVocabulary
internal import StorageSPI

/// Reading entries that may have been written with transforms.
extension EntryStore {
  /// The entry under `key` as it is stored, with `metadata` in place of its own, if it has the version `version`, is
  /// hidden, and would be written in the same way now. `nil` otherwise.
  ///
  /// - Throws: `CacheError`: the engine failed.
  func renewed(
    _ key: CacheKey, _ payload: [UInt8], _ metadata: EntryMetadata, _ version: UInt64
  ) async throws(CacheError) -> TransformPipeline.Encoded? {
    do throws(CacheError) {
      let found = try await engine.read(key) {
        [transforms] bytes, stored throws(CacheError) -> TransformPipeline.Encoded? in
        guard stored.checksum == version, stored.seal != nil, try !stored.verify(key: key, payload: bytes),
          try transforms.opened(bytes, stored, key: key).payload == payload
        else { return nil }
        return try transforms.renewed(bytes, stored, as: metadata, key: key)
      }
      return found ?? nil
    } catch {
      // An entry that cannot be read is replaced.
      guard error.isOfOneEntry else { throw error }
      return nil
    }
  }

  /// The metadata of a listed entry, with the attributes that a transform hides.
  ///
  /// - Throws: `CacheError`: `wrongKey`, `damaged`, or `unsupported` if a transform is not set up.
  func revealed(_ entry: EntrySummary) throws(CacheError) -> EntryMetadata {
    guard entry.metadata.attributes[EntryMetadata.hiddenName] != nil else { return entry.metadata }
    return try transforms.revealed(entry.metadata, key: entry.key)
  }
}
