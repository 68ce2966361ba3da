internal import CacheDomain
internal import StorageSPI

extension EntryStore {
  /// What `decode` makes of the entry under `key`, or has made of it before; `nil` where there is none, or an expired
  /// one. Whether it has expired is judged by the clock each time.
  ///
  /// What was decoded is used again without reading the entry only where the engine says that nothing has changed. A
  /// read that fails is a failure: nothing is used in its place.
  ///
  /// - Parameter codec: what tells `decode` from other functions whose values have the same type.
  /// - Throws: `CacheError`: what `decode` throws; `damaged` where the entry is not what was written.
  func decoded<Value: Sendable>(
    _ key: CacheKey, _ codec: CodecIdentity,
    _ decode: @Sendable (Span<UInt8>, EntryMetadata) throws(StorageError) -> Value
  ) async throws(CacheError) -> Decoded<Value>? {
    let (now, digest) = (clock.now, UseRecord.digest(of: key))
    do throws(StorageError) {
      let found: DecodedEntries.Finding<Value> =
        decodedEntries?.find(key, digest, codec) ?? DecodedEntries.Finding()
      // Asked for before the read: what is read then is as new as the number, or newer. And only for what comes again: an
      // engine may have to open something to tell, which a process that reads one entry should not pay for.
      let count = found.kept == nil ? nil : try decodedEntries?.changeCount()
      if let kept = found.kept, let count, count == found.changeCount {
        return kept.metadata.state(at: now) == .expired ? nil : kept
      }
      let read = try await engine.read(key) { bytes, metadata throws(StorageError) -> Decoded<Value>? in
        try metadata.verify(key: key, payload: bytes)
        if metadata.state(at: now) == .expired { return nil }
        if let kept = found.kept, kept.isSame(metadata, payloadBytes: bytes.count) { return kept }
        return Decoded(
          try decode(bytes, metadata), key: key, digest: digest, metadata: metadata, payloadBytes: bytes.count,
          codec: codec)
      }
      guard let current = read ?? nil else {
        decodedEntries?.remove(digest)
        return nil
      }
      decodedEntries?.keep(current, changeCount: count)
      return current
    } catch {
      throw CacheError(error)
    }
  }
}
