public import CacheDomain

/// Keeps the answers to requests of one kind. What it keeps them in is not known here.
public protocol ResponseStore<Request, Response>: Sendable {
  /// What was asked.
  associatedtype Request: CacheableRequest
  /// What was answered.
  associatedtype Response: Sendable

  /// The answer kept for `request`, fresh or stale; `nil` where there is none, or none that may still be used.
  ///
  /// - Parameters:
  ///   - request: what was asked.
  ///   - isCounted: whether the look-up is one of those whose success is counted: the first of a fetch.
  /// - Throws: `CacheError`: the storage failed, or holds what it was not given (`damaged`).
  func response(for request: Request, isCounted: Bool) async throws(CacheError) -> StoredResponse<Response>?

  /// Keeps `response` under `head`, in place of what was kept for `request` before.
  ///
  /// - Parameter version: the version of what must still be kept then; `nil` for anything or nothing.
  /// - Throws: `CacheError`: the storage failed; `conflict` where another version is kept. What was kept before still is.
  func store(
    _ response: Response, head: StoredHead, for request: Request, expecting version: UInt64?
  ) async throws(CacheError)

  /// The key of the entry that answers `request`.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` where it would be too long.
  func key(for request: Request) throws(CacheError) -> String
}

extension ResponseStore {
  /// Keeps `response` under `head`, in place of whatever was kept for `request` before.
  ///
  /// - Throws: `CacheError`: the storage failed; what was kept before still is.
  public func store(_ response: Response, head: StoredHead, for request: Request) async throws(CacheError) {
    try await store(response, head: head, for: request, expecting: nil)
  }
}

/// An answer as it was kept.
public struct StoredResponse<Response: Sendable>: Sendable {
  /// The key of the entry.
  public let key: String
  /// The answer.
  public let response: Response
  /// What decides over its use.
  public var head: StoredHead
  /// What tells this state of the entry from every other; `nil` where the storage does not say.
  public let version: UInt64?

  /// A stored answer with the given parts.
  public init(key: String, response: Response, head: StoredHead, version: UInt64? = nil) {
    self.key = key
    self.response = response
    self.head = head
    self.version = version
  }
}

/// Keeps pages of cities.
public protocol CityResponseStorage: ResponseStore where Request == CitiesRequestDTO, Response == CitiesPageDTO {}

/// Keeps pages of movies.
public protocol MoviesResponseStorage: ResponseStore where Request == MoviesRequestDTO, Response == MoviesPageDTO {}

/// Keeps posters.
public protocol PosterResponseStorage: ResponseStore where Request == PosterRequestDTO, Response == PosterDTO {}
