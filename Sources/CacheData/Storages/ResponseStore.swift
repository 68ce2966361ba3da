public import CacheDomain

/// Keeps the answers to requests of one kind. What it keeps them in is not known here.
public protocol ResponseStore<Request, Response>: Sendable {
  /// What was asked.
  associatedtype Request: CacheableRequest
  /// What was answered.
  associatedtype Response: Sendable

  /// The answer kept for `request`, fresh or stale; `nil` where there is none, or none that may still be used.
  ///
  /// - Throws: `CacheError`: the storage failed, or holds what it was not given (`damaged`).
  func response(for request: Request) async throws(CacheError) -> StoredResponse<Response>?

  /// Keeps `response`, in place of what was kept for `request` before, and says what is now known of it.
  ///
  /// - Throws: `CacheError`: the storage failed; what was kept before still is.
  func store(
    _ response: Response, validator: String?, for request: Request, lifetime: Lifetime
  ) async throws(CacheError) -> EntryFacts

  /// What would be known of an answer to `request` that was stored now.
  ///
  /// - Throws: `CacheError` where the request cannot have an entry, because its key would be too long.
  func facts(for request: Request, lifetime: Lifetime) throws(CacheError) -> EntryFacts
}

/// An answer as it was kept.
public struct StoredResponse<Response: Sendable>: Sendable {
  /// The answer.
  public let response: Response
  /// What its origin said to ask again with.
  public let validator: String?
  /// What is known of the entry.
  public let facts: EntryFacts

  /// A stored answer with the given parts.
  public init(response: Response, validator: String?, facts: EntryFacts) {
    self.response = response
    self.validator = validator
    self.facts = facts
  }
}

/// Keeps pages of cities.
public protocol CityResponseStorage: ResponseStore where Request == CitiesRequestDTO, Response == CitiesPageDTO {}

/// Keeps pages of movies.
public protocol MoviesResponseStorage: ResponseStore where Request == MoviesRequestDTO, Response == MoviesPageDTO {}

/// Keeps posters.
public protocol PosterResponseStorage: ResponseStore where Request == PosterRequestDTO, Response == PosterDTO {}
