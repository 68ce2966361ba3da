internal import EngineAPI

/// Stores the responses to one kind of request. Implementations decide where.
public protocol ResponseStore<Request, Response>: Sendable {
  /// The kind of request.
  associatedtype Request: CacheableRequest
  /// The kind of response.
  associatedtype Response: Sendable

  /// The response stored for `request`, fresh or stale; `nil` if there is none that can still be used.
  ///
  /// - Parameters:
  ///   - request: the request to serve.
  ///   - isCounted: whether to count this lookup as a hit or a miss: only a fetch's first one.
  /// - Throws: `CacheError`: the storage failed, or the entry is damaged (`damaged`).
  func response(for request: Request, isCounted: Bool) async throws(CacheError) -> StoredResponse<Response>?

  /// Stores `response` with `head`, and replaces the entry for `request`.
  ///
  /// - Parameters:
  ///   - confirmed: the stored response that the origin has confirmed, and that the entry must still have: it gets the
  ///     new head, and need not be stored again. `nil` to store in any case.
  ///   - token: the request that the response ends; `nil` if there is none. A store that several processes use removes its
  ///     lease in the same commit. If it is outdated, the call fails with the code `conflict`.
  /// - Throws: `CacheError`: the storage failed; `conflict` if another response has replaced `confirmed`. After an error
  ///   nothing has changed.
  func store(
    _ response: Response, head: StoredHead, for request: Request, confirming confirmed: StoredResponse<Response>?,
    token: CoalescingToken?
  ) async throws(CacheError)

  /// Removes the entry for `request`, if there is one.
  ///
  /// - Throws: `CacheError`: the storage failed, and nothing has changed.
  func remove(_ request: Request) async throws(CacheError)

  /// The key of the entry for `request`.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if the key would be too long.
  func key(for request: Request) throws(CacheError) -> String
}

extension ResponseStore {
  /// Stores `response` with `head`, and replaces the entry for `request`, whatever it is.
  ///
  /// - Throws: `CacheError`: the storage failed, and nothing has changed.
  public func store(_ response: Response, head: StoredHead, for request: Request) async throws(CacheError) {
    try await store(response, head: head, for: request, confirming: nil, token: nil)
  }
}

/// A stored response.
public struct StoredResponse<Response: Sendable>: Sendable {
  /// The key of the entry.
  public let key: String
  /// The response.
  public let response: Response
  /// The header and times that decide how the response can be used.
  public var head: StoredHead
  /// The entry's version, which changes with each write; `nil` if the storage does not tell.
  public let version: UInt64?

  /// Creates a stored response.
  public init(key: String, response: Response, head: StoredHead, version: UInt64? = nil) {
    self.key = key
    self.response = response
    self.head = head
    self.version = version
  }
}

/// Stores responses as entries of any engine. A request becomes a key, a response a payload, and the origin's caching
/// header fields become attributes.
///
/// Each resource has its own name for this type, in its own file. Resources know no engine and engines know no
/// resource, so N engines and M resources take N + M types.
public struct EngineResponseStorage<Request: CacheableRequest, Response: Sendable>: ResponseStore {
  private let store: EntryStore
  private let codec: PayloadCodec<Response>
  /// Whether a response replaces a fresh entry. If entries are also written without a request, a fresh one that the lookup
  /// did not find is newer than the response.
  private let replacesFresh: Bool

  /// Creates a storage over `store` whose payloads `codec` makes.
  public init(store: EntryStore, codec: PayloadCodec<Response>) {
    self.init(store: store, codec: codec, replacesFresh: true)
  }

  package init(store: EntryStore, codec: PayloadCodec<Response>, replacesFresh: Bool) {
    self.store = store
    self.codec = codec
    self.replacesFresh = replacesFresh
  }

  /// The response stored for `request`, fresh or stale; `nil` if there is none, or an expired one.
  ///
  /// - Throws: `CacheError`: the engine failed, or the entry is `damaged`.
  public func response(
    for request: Request, isCounted: Bool = true
  ) async throws(CacheError) -> StoredResponse<Response>? {
    let key = try CacheKey(for: request)
    let found = try await store.decoded(key, codec.identifier) { [codec] bytes, metadata, earlier throws(CacheError) in
      try codec.stored(bytes, key, metadata, earlier)
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
    let expected =
      replacesFresh ? confirmed?.version.map { .checksum($0) } : try await expectationUnlessFresh(key, request)
    try await store.write(key, payload: payload, metadata: metadata, expecting: expected, token: token)
  }

  /// The present entry for `request`, or none, which a response replaces; `nil` for one that cannot be read.
  ///
  /// - Throws: `CacheError`: `conflict` if the entry is fresh, or the engine's failure.
  private func expectationUnlessFresh(
    _ key: CacheKey, _ request: Request
  ) async throws(CacheError) -> WriteBatch.Expectation? {
    try await ifReadable { () async throws(CacheError) -> WriteBatch.Expectation? in
      guard let entry = try await store.entry(key) else { return .absent }
      if entry.metadata.state(at: store.clock.now) == .fresh, try await response(for: request, isCounted: false) != nil
      {
        throw .conflict(on: key)
      }
      return .checksum(entry.metadata.checksum)
    }
  }

  /// Removes the entry for `request`, if there is one. Looks first: that costs less than a commit.
  ///
  /// - Throws: `CacheError`: the engine failed, and nothing has changed.
  public func remove(_ request: Request) async throws(CacheError) {
    let key = try CacheKey(for: request)
    do throws(CacheError) { if try await store.entry(key) == nil { return } } catch {
      guard error.isOfOneEntry else { throw error }
    }
    var batch = WriteBatch()
    batch.remove(key)
    try await store.engine.apply(batch)
  }

  /// The key of the entry for `request`.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if the key would be too long.
  public func key(for request: Request) throws(CacheError) -> String {
    try CacheKey(for: request).text
  }
}

extension EntryStore {
  /// The response that an `EngineResponseStorage` with `codec` finds for `request`, if that is at hand, decoded and
  /// unchanged since, and `isUsed` returns `true` for its head; otherwise `nil`. Counts a hit.
  ///
  /// Cost: see `kept(_:_:where:)`, and `decodedNow(_:_:_:)` if `readsSmall`.
  ///
  /// - Parameter readsSmall: whether to read a small entry too, which is not at hand.
  /// - Throws: `CacheError`: the engine failed.
  package func keptResponse<Response: Sendable>(
    for request: some CacheableRequest, _ codec: PayloadCodec<Response>, readsSmall: Bool,
    where isUsed: (StoredHead) -> Bool
  ) throws(CacheError) -> Response? {
    typealias Found = Decoded<StoredResponse<Response>>
    let key = try CacheKey(for: request)
    if let kept = try kept(key, codec.identifier, where: { (kept: Found) in isUsed(kept.value.head) }) {
      return kept.value.response
    }
    guard readsSmall else { return nil }
    let found: Found?? = try decodedNow(key, codec.identifier) { bytes, metadata, earlier throws(CacheError) in
      try codec.stored(bytes, key, metadata, earlier)
    }
    guard let found, let found, isUsed(found.value.head) else { return nil }
    countLookUp(digest: found.digest)
    return found.value.response
  }
}

extension PayloadCodec {
  /// The response in an entry, decoded unless it is that of `earlier`.
  fileprivate func stored(
    _ bytes: Span<UInt8>, _ key: CacheKey, _ metadata: EntryMetadata, _ earlier: StoredResponse<Value>?
  ) throws(CacheError) -> StoredResponse<Value> {
    let response = if let earlier { earlier.response } else { try decode(bytes, key, metadata.contentType) }
    return StoredResponse(
      key: key.text, response: response, head: metadata.storedHead(fields: metadata.cachingFields),
      version: metadata.checksum)
  }
}
