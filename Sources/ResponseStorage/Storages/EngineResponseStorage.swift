public import CacheData
public import CacheDomain
internal import StorageSPI

/// Keeps answers as entries of an engine, whichever it is: a request becomes a key, a response a payload, and what
/// its origin said about caching attributes.
///
/// Each resource has its own name for it, in a file of its own: the resources know no engine, and the engines know no
/// resource, so that N engines and M resources take N + M types.
public struct EngineResponseStorage<Request: CacheableRequest, Response: Sendable>: ResponseStore {
  private let store: EntryStore
  private let codec: PayloadCodec<Response>

  /// The storage over `store`, whose payloads `codec` makes.
  public init(store: EntryStore, codec: PayloadCodec<Response>) {
    self.store = store
    self.codec = codec
  }

  /// The answer kept for `request`, fresh or stale; `nil` where there is none, or an expired one.
  ///
  /// - Throws: `CacheError`: the engine failed, or the entry is `damaged`.
  public func response(
    for request: Request, isCounted: Bool = true
  ) async throws(CacheError) -> StoredResponse<Response>? {
    let key = try CacheKey(for: request)
    let found = try await store.decoded(key, codec.identity) { [codec] bytes, metadata throws(StorageError) in
      StoredResponse(
        key: key.text, response: try codec.decode(bytes, key, metadata),
        head: metadata.storedHead(fields: metadata.cachingFields), version: metadata.checksum)
    }
    if isCounted { store.countLookUp(digest: found?.digest) }
    return found?.value
  }

  /// Keeps `response` under `head`, in place of what was kept for `request` before.
  ///
  /// - Throws: `CacheError`: the engine failed; `conflict` where another version than `version` is kept. What was kept
  ///   before still is.
  public func store(
    _ response: Response, head: StoredHead, for request: Request, expecting version: UInt64?
  ) async throws(CacheError) {
    let key = try CacheKey(for: request)
    let (payload, contentType) = try codec.encode(response)
    let metadata = EntryMetadata(head, contentType: contentType, attributes: head.cachingAttributes)
    try await store.write(key, payload: payload, metadata: metadata, expecting: version.map { .checksum($0) })
  }

  /// The key of the entry that answers `request`.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` where it would be too long.
  public func key(for request: Request) throws(CacheError) -> String {
    try CacheKey(for: request).text
  }
}
