public import CacheDomain
public import StorageSPI

/// What a resource keeps, as values of its own. Resources of this library and of others use the same calls.
extension EntryStore {
  /// Another writer has to win every time for this many times to give up: then somebody writes without pause.
  private static let maximumAttempts = 1_000
  /// How many entries are visited at once.
  private static let pageSize = 1_000

  /// The value under `key`, with the metadata of its entry; `nil` where there is none, or an expired one. What was
  /// decoded before is used again where the entry still is the same; see `DecodedLimits`.
  ///
  /// - Throws: `CacheError`: the engine failed; `damaged` where the entry is not what was written.
  public func read<Value: Sendable>(
    _ key: CacheKey, _ codec: PayloadCodec<Value>
  ) async throws(CacheError) -> (value: Value, metadata: EntryMetadata)? {
    let found = try await decoded(key, codec.identity) { bytes, metadata throws(StorageError) in
      try codec.decode(bytes, key, metadata)
    }
    return found.map { ($0.value, $0.metadata) }
  }

  /// Puts what `change` makes of the value under `key` in its place, on condition that nobody wrote it in between; tries
  /// again where somebody did. So of what several tasks or processes change at the same time nothing is lost.
  ///
  /// It is for values that are no copies of what an origin has: they are fresh for as long as they are kept.
  ///
  /// - Parameters:
  ///   - key: the key of the entry.
  ///   - codec: how values are written.
  ///   - change: is given the value, `nil` where there is none or an expired one, and returns the new one with the time
  ///     from which on it may be dropped. It is called once for each attempt; what it throws ends them.
  /// - Throws: `CacheError`: what `change` throws, the engine failed, the entry is `damaged`, or others wrote it all the
  ///   time (`conflict`); then nothing has changed.
  public func update<Value: Sendable>(
    _ key: CacheKey, _ codec: PayloadCodec<Value>,
    _ change: (Value?) throws(CacheError) -> (value: Value, retainUntil: Timestamp)
  ) async throws(CacheError) {
    for attempt in 1... {
      do throws(CacheError) {
        return try await tryUpdating(key, codec, change)
      } catch {
        guard error.code.rawValue == StorageError.Code.conflict.rawValue, attempt < Self.maximumAttempts else {
          throw error
        }
        if Task.isCancelled { throw .cancelled }
      }
    }
  }

  /// The keys that begin with `prefix` and have an entry that has not expired, in order. They are all in memory at once.
  ///
  /// - Throws: `CacheError`: the engine failed.
  public func keys(prefix: String) async throws(CacheError) -> [CacheKey] {
    let now = clock.now
    var range = KeyRange(prefix: prefix)
    var keys: [CacheKey] = []
    while true {
      if Task.isCancelled { throw .cancelled }
      let page: [EntrySummary]
      do throws(StorageError) {
        page = try await engine.scan(range, limit: Self.pageSize)
      } catch {
        throw CacheError(error)
      }
      keys += page.filter { $0.metadata.state(at: now) != .expired }.map(\.key)
      guard page.count == Self.pageSize else { return keys }
      range.after = page.last?.key
    }
  }

  private func tryUpdating<Value: Sendable>(
    _ key: CacheKey, _ codec: PayloadCodec<Value>,
    _ change: (Value?) throws(CacheError) -> (value: Value, retainUntil: Timestamp)
  ) async throws(CacheError) {
    let current = try await version(key, codec)
    let (value, retainUntil) = try change(current?.value)
    let (payload, contentType) = try codec.encode(value)
    let metadata = EntryMetadata(
      storedAt: clock.now, freshUntil: retainUntil, retainUntil: retainUntil, contentType: contentType)
    let expected = current.map { WriteBatch.Expectation.checksum($0.checksum) } ?? .absent
    try await write(key, payload: payload, metadata: metadata, expecting: expected)
  }

  /// What the engine holds under `key`: of an expired entry the checksum alone.
  private func version<Value: Sendable>(
    _ key: CacheKey, _ codec: PayloadCodec<Value>
  ) async throws(CacheError) -> (value: Value?, checksum: UInt64)? {
    let now = clock.now
    do throws(StorageError) {
      return try await engine.read(key) { bytes, metadata throws(StorageError) in
        try metadata.verify(key: key, payload: bytes)
        if metadata.state(at: now) == .expired { return (nil, metadata.checksum) }
        return (try codec.decode(bytes, key, metadata), metadata.checksum)
      }
    } catch {
      throw CacheError(error)
    }
  }
}
