internal import FetchVocabulary
internal import StorageSPI

extension EntryStore {
  /// The value that `decode` makes, or has made before, from the entry under `key`; `nil` if there is none, or an
  /// expired one. Each call checks the expiry by the clock.
  ///
  /// A decoded value is reused without reading the entry only if the engine confirms that nothing has changed. A failed
  /// read is a failure: no kept value replaces it.
  ///
  /// - Parameter codec: distinguishes `decode` from other functions whose values have the same type.
  /// - Throws: `CacheError`: what `decode` throws; `damaged` if the entry is not as it was written.
  func decoded<Value: Sendable>(
    _ key: CacheKey, _ codec: CodecIdentity,
    _ decode: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Value
  ) async throws(CacheError) -> Decoded<Value>? {
    let (now, digest) = (clock.now, AccessRecord.digest(of: key))
    let found: DecodedEntries.Finding<Value> =
      decodedEntries?.find(key, digest, codec) ?? DecodedEntries.Finding()
    // Get the count before the read, so that the value read belongs to this count or a later one. Only for entries
    // read again: an engine may have to open a file for it, which a process that reads one entry should not pay for.
    let count = found.kept == nil ? nil : try decodedEntries?.changeCount()
    if let kept = found.kept, let count, count == found.changeCount {
      return kept.metadata.state(at: now) == .expired ? nil : kept
    }
    let read = try await engine.read(key) { bytes, metadata throws(CacheError) -> Decoded<Value>? in
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
  }
}
