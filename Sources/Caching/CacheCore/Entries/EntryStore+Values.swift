public import EngineAPI

/// Entries whose values belong to a resource, in this library or another one.
extension EntryStore {
  /// How often other writers can be faster before an update gives up: then they are writing without pause.
  private static let maximumAttempts = 1_000

  /// The value under `key`, with its entry's metadata; `nil` if there is none, or an expired one. Reuses a decoded
  /// value while its entry stays the same; see `DecodedLimits`.
  ///
  /// - Throws: `CacheError`: the engine failed; `damaged` if the entry is not intact.
  public func read<Value: Sendable>(
    _ key: CacheKey, _ codec: PayloadCodec<Value>
  ) async throws(CacheError) -> (value: Value, metadata: EntryMetadata)? {
    try await decoded(key, codec).map { ($0.value, $0.metadata) }
  }

  /// Does the same as `read(_:_:)`, and copies neither the value nor the metadata.
  package func decoded<Value: Sendable>(
    _ key: CacheKey, _ codec: PayloadCodec<Value>
  ) async throws(CacheError) -> Decoded<Value>? {
    try await decoded(key, codec.identifier) { bytes, metadata, earlier throws(CacheError) in
      if let earlier { earlier } else { try codec.decode(bytes, key, metadata.contentType) }
    }
  }

  /// Does the same at once for a small entry; `nil` if only `decoded(_:_:)` can tell. See `decodedNow(_:_:_:)`.
  package func decodedNow<Value: Sendable>(
    _ key: CacheKey, _ codec: PayloadCodec<Value>
  ) throws(CacheError) -> Decoded<Value>?? {
    try decodedNow(key, codec.identifier) { bytes, metadata, earlier throws(CacheError) in
      if let earlier { earlier } else { try codec.decode(bytes, key, metadata.contentType) }
    }
  }

  /// Replaces the value under `key` by what `change` makes of it, if no other writer changes it in between, and tries
  /// again if one does. So nothing is lost when several tasks or processes change a value at the same time.
  ///
  /// Meant for values that are not copies of an origin's: they stay fresh until they expire.
  ///
  /// - Parameters:
  ///   - key: the key of the entry.
  ///   - codec: encodes and decodes the value.
  ///   - change: receives the value, `nil` if there is none or an expired one, and returns the new one with the time
  ///     from which it can be dropped. It is called once per attempt; an error ends the update.
  /// - Throws: `CacheError`: what `change` throws, the engine failed, the entry is `damaged`, or other writers kept
  ///   changing it (`conflict`); then nothing has changed.
  public func update<Value: Sendable>(
    _ key: CacheKey, _ codec: PayloadCodec<Value>,
    _ change: (Value?) throws(CacheError) -> (value: Value, retainUntil: Timestamp)
  ) async throws(CacheError) {
    for attempt in 1... {
      do throws(CacheError) {
        let current = try await read(key, codec)
        var version = current?.metadata.checksum
        if current == nil, let other = try await entry(key)?.metadata {
          // An entry that has not expired was not there a moment ago.
          guard other.state(at: clock.now) == .expired else { throw .conflict(on: key) }
          version = other.checksum
        }
        let (value, retainUntil) = try change(current?.value)
        let (payload, contentType) = try codec.encode(value)
        let metadata = EntryMetadata(
          storedAt: clock.now, freshUntil: retainUntil, retainUntil: retainUntil, contentType: contentType)
        return try await write(
          key, payload: payload, metadata: metadata, expecting: version.map { .checksum($0) } ?? .absent)
      } catch {
        guard error.code == .conflict, attempt < Self.maximumAttempts else { throw error }
        if Task.isCancelled { throw .cancelled }
      }
    }
  }

  /// The keys with the prefix `prefix` whose entries have not expired, sorted. All of them are in memory at once.
  ///
  /// - Throws: `CacheError`: the engine failed.
  public func keys(prefix: String) async throws(CacheError) -> [CacheKey] {
    let now = clock.now
    var walk = StoreWalk(self, ScanRequest(prefix: prefix))
    // An engine that is not ordered can return a key twice.
    var keys: Set<CacheKey> = []
    while let page = try await walk.next() {
      for entry in page where entry.metadata.state(at: now) != .expired { keys.insert(entry.key) }
    }
    return keys.sorted()
  }
}
