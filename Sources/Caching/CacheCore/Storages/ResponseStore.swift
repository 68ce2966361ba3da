public import FetchVocabulary

/// Stores the responses to one kind of request. Implementations decide where.
public protocol ResponseStore<Request, Response>: Sendable {
  /// The kind of request.
  associatedtype Request: CacheableRequest
  /// The kind of response.
  associatedtype Response: Sendable

  /// The response stored for `request`, fresh or stale; `nil` if there is none that may still be used.
  ///
  /// - Parameters:
  ///   - request: the request to answer.
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

  /// The key of the entry that answers `request`.
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
  /// What decides how the response may be used.
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
