public import CacheData
public import CacheDomain
internal import StorageSPI

/// Keeps answers as entries of an engine, whichever it is: a request becomes a key, a response a payload, and the
/// origin's validator an attribute.
///
/// Each resource has its own name for it, in a file of its own: the resources know no engine, and the engines know no
/// resource, so that N engines and M resources take N + M types.
public struct EngineResponseStorage<Request: CacheableRequest, Response: Sendable>: ResponseStore {
  private let store: EntryStore
  private let codec: PayloadCodec<Response>

  init(store: EntryStore, codec: PayloadCodec<Response>) {
    self.store = store
    self.codec = codec
  }

  /// The answer kept for `request`, fresh or stale; `nil` where there is none, or an expired one.
  ///
  /// - Throws: `CacheError`: the engine failed, or the entry is `damaged`.
  public func response(for request: Request) async throws(CacheError) -> StoredResponse<Response>? {
    let key = try CacheKey(for: request)
    let found = try await store.read(key) { [codec] bytes, metadata throws(StorageError) in
      try codec.decode(bytes, key, metadata)
    }
    store.usage.record(hit: found != nil)
    guard let (response, metadata) = found else { return nil }
    return StoredResponse(
      response: response, validator: metadata.attributes[AttributeName.validator], facts: store.facts(key, metadata))
  }

  /// Keeps `response`, in place of what was kept for `request` before, and says what is now known of it.
  ///
  /// - Throws: `CacheError`: the engine failed; what was kept before still is.
  public func store(
    _ response: Response, validator: String?, for request: Request, lifetime: Lifetime
  ) async throws(CacheError) -> EntryFacts {
    let key = try CacheKey(for: request)
    let (payload, contentType) = try codec.encode(response)
    let attributes = validator.map { [AttributeName.validator: $0] } ?? [:]
    let metadata = store.metadata(lifetime, contentType: contentType, attributes: attributes)
    return store.facts(key, try await store.write(key, payload: payload, metadata: metadata))
  }

  /// What would be known of an answer to `request` that was stored now.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` where its key would be too long.
  public func facts(for request: Request, lifetime: Lifetime) throws(CacheError) -> EntryFacts {
    store.facts(try CacheKey(for: request), store.metadata(lifetime, contentType: ""))
  }
}

/// The names of the attributes that the core keeps with an entry.
private enum AttributeName {
  /// What the origin said to ask again with, as in HTTP.
  static let validator = "etag"
}
