public import CacheDomain

/// Where answers come from when the cache has none: a server, or the sample inside the program.
public protocol ResponseOrigin<Request, Response>: Sendable {
  /// What the origin is asked.
  associatedtype Request: CacheableRequest
  /// What it answers.
  associatedtype Response: Sendable

  /// The origin's name, which is part of the key of every entry: answers of two origins are never mixed up.
  var name: String { get }

  /// Asks the origin.
  ///
  /// - Parameters:
  ///   - request: what is asked.
  ///   - validator: the validator of the answer that the cache holds; `nil` where it holds none.
  /// - Throws: `CacheError`: `originUnreachable`, `originRefused`, `notFound`, `invalidAnswer`, `invalidRequest`,
  ///   `cancelled`.
  func answer(
    to request: Request, validator: String?
  ) async throws(CacheError) -> OriginAnswer<Response>
}

/// What an origin answers.
public enum OriginAnswer<Response: Sendable>: Sendable {
  /// A whole and valid answer, and the validator to ask again with.
  case modified(Response, validator: String?)
  /// The answer that belongs to the validator still holds.
  case notModified
}

/// An origin of pages of cities.
public protocol CityOrigin: ResponseOrigin where Request == CitiesRequestDTO, Response == CitiesPageDTO {}

/// An origin of pages of movies.
public protocol MovieOrigin: ResponseOrigin where Request == MoviesRequestDTO, Response == MoviesPageDTO {}

/// An origin of posters.
public protocol PosterOrigin: ResponseOrigin where Request == PosterRequestDTO, Response == PosterDTO {}
