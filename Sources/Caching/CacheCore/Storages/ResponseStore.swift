public import FetchVocabulary

/// Stores the answers to one kind of request. Implementations decide where.
public protocol ResponseStore<Request, Response>: Sendable {
  /// The kind of request.
  associatedtype Request: CacheableRequest
  /// The kind of answer.
  associatedtype Response: Sendable

  /// The answer stored for `request`, fresh or stale; `nil` if there is none that may still be used.
  ///
  /// - Parameters:
  ///   - request: the request to answer.
  ///   - isCounted: whether to count this look-up as a hit or a miss: only a fetch's first one.
  /// - Throws: `CacheError`: the storage failed, or the entry is damaged (`damaged`).
  func response(for request: Request, isCounted: Bool) async throws(CacheError) -> StoredResponse<Response>?

  /// Stores `response` with `head`, and replaces the entry for `request`.
  ///
  /// - Parameter version: the version that the entry must still have; `nil` to store in any case.
  /// - Throws: `CacheError`: the storage failed; `conflict` if the entry has another version. After an error nothing
  ///   has changed.
  func store(
    _ response: Response, head: StoredHead, for request: Request, expecting version: UInt64?
  ) async throws(CacheError)

  /// Gives the entry of `stored`, which its origin has confirmed, the new `head`, without storing the response again.
  ///
  /// - Returns: `false` if the response must be stored again, and nothing has changed; the default always does.
  /// - Throws: `CacheError`: as `store(_:head:for:expecting:)`, with the version of `stored`.
  func renew(_ stored: StoredResponse<Response>, head: StoredHead, for request: Request) async throws(CacheError)
    -> Bool

  /// Removes the entry for `request`, if there is one.
  ///
  /// - Throws: `CacheError`: the storage failed, and nothing has changed.
  func remove(_ request: Request) async throws(CacheError)

  /// The key of the entry that answers `request`.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if the key would be too long.
  func key(for request: Request) throws(CacheError) -> String

  /// This storage, whose next write also ends the lease of `flight`, in one commit. If the flight is outdated, the write
  /// fails with the code `conflict`. The default does neither.
  func ending(_ flight: FlightTicket?) -> Self
}

extension ResponseStore {
  /// This storage as it is: other processes do not see its flights.
  public func ending(_ flight: FlightTicket?) -> Self { self }

  /// `false`: this storage stores responses whole.
  public func renew(
    _ stored: StoredResponse<Response>, head: StoredHead, for request: Request
  ) async throws(CacheError) -> Bool { false }

  /// Stores `response` with `head`, and replaces the entry for `request`, whatever its version.
  ///
  /// - Throws: `CacheError`: the storage failed, and nothing has changed.
  public func store(_ response: Response, head: StoredHead, for request: Request) async throws(CacheError) {
    try await store(response, head: head, for: request, expecting: nil)
  }
}

/// A stored answer.
public struct StoredResponse<Response: Sendable>: Sendable {
  /// The key of the entry.
  public let key: String
  /// The answer.
  public let response: Response
  /// What decides how the answer may be used.
  public var head: StoredHead
  /// The entry's version, which changes with each write; `nil` if the storage does not tell.
  public let version: UInt64?

  /// Creates a stored answer.
  public init(key: String, response: Response, head: StoredHead, version: UInt64? = nil) {
    self.key = key
    self.response = response
    self.head = head
    self.version = version
  }
}
