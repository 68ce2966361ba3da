internal import EngineAPI

/// Stores answers as entries of any engine. A request becomes a key, a response a payload, and the origin's caching
/// header fields become attributes.
///
/// Each resource has its own name for this type, in its own file. Resources know no engine and engines know no
/// resource, so N engines and M resources take N + M types.
public struct EngineResponseStorage<Request: CacheableRequest, Response: Sendable>: ResponseStore {
  private let store: EntryStore
  private let codec: PayloadCodec<Response>

  /// Creates a storage over `store` whose payloads `codec` makes.
  public init(store: EntryStore, codec: PayloadCodec<Response>) {
    self.store = store
    self.codec = codec
  }

  /// The answer stored for `request`, fresh or stale; `nil` if there is none, or an expired one.
  ///
  /// - Throws: `CacheError`: the engine failed, or the entry is `damaged`.
  public func response(
    for request: Request, isCounted: Bool = true
  ) async throws(CacheError) -> StoredResponse<Response>? {
    let key = try CacheKey(for: request)
    let found = try await store.decoded(key, codec.identifier) { [codec] bytes, metadata throws(CacheError) in
      StoredResponse(
        key: key.text, response: try codec.decode(bytes, key, metadata.contentType),
        head: metadata.storedHead(fields: metadata.cachingFields), version: metadata.checksum)
    }
    if isCounted { store.countLookUp(digest: found?.digest) }
    return found?.value
  }

  /// Stores `response` with `head`, and replaces the entry for `request`.
  ///
  /// - Throws: `CacheError`: the engine failed; `conflict` if the entry is not that of `confirmed` any more, or the
  ///   request of `token` is outdated. After an error nothing has changed.
  public func store(
    _ response: Response, head: StoredHead, for request: Request, confirming confirmed: StoredResponse<Response>?,
    token: CoalescingToken?
  ) async throws(CacheError) {
    let key = try CacheKey(for: request)
    let isRenewed = try await store.renew(key, from: confirmed?.version, token: token) {
      EntryMetadata(head, contentType: $0.contentType, attributes: head.cachingAttributes)
    }
    if isRenewed { return }
    let (payload, contentType) = try codec.encode(response)
    let metadata = EntryMetadata(head, contentType: contentType, attributes: head.cachingAttributes)
    try await store.write(
      key, payload: payload, metadata: metadata, expecting: confirmed?.version.map { .checksum($0) }, token: token)
  }

  /// Removes the entry for `request`, if there is one. Looks first: that costs less than a commit.
  ///
  /// - Throws: `CacheError`: the engine failed, and nothing has changed.
  public func remove(_ request: Request) async throws(CacheError) {
    let key = try CacheKey(for: request)
    do throws(CacheError) {
      if try await store.engine.read(key, { _, _ throws(CacheError) in true }) == nil { return }
    } catch {
      guard error.isOfOneEntry else { throw error }
    }
    var batch = WriteBatch()
    batch.remove(key)
    try await store.engine.apply(batch)
  }

  /// The key of the entry that answers `request`.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if the key would be too long.
  public func key(for request: Request) throws(CacheError) -> String {
    try CacheKey(for: request).text
  }
}

extension EntryStore {
  /// The answer that an `EngineResponseStorage` with `codec` finds for `request`, if that is at hand, decoded and
  /// unchanged since, and `isUsed` returns `true` for its head; otherwise `nil`. Counts a hit.
  ///
  /// Cost: see `kept(_:_:where:)`.
  ///
  /// - Throws: `CacheError`: the engine failed.
  package func keptResponse<Response: Sendable>(
    for request: some CacheableRequest, _ codec: PayloadCodec<Response>, where isUsed: (StoredHead) -> Bool
  ) throws(CacheError) -> Response? {
    let key = try CacheKey(for: request)
    let found = try kept(key, codec.identifier) { (kept: Decoded<StoredResponse<Response>>) in isUsed(kept.value.head) }
    return found?.value.response
  }
}
