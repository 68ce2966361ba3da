public import CacheDomain

/// Where answers come from when the cache has none: a server, or the sample inside the program.
public protocol ResponseOrigin<Request, Response>: Sendable {
  /// What the origin is asked.
  associatedtype Request: CacheableRequest
  /// What it answers.
  associatedtype Response: Sendable

  /// The origin's name, which is part of the key of every entry: answers of two origins are never mixed up.
  var name: String { get }

  /// Whether asking the origin costs so little that several fetches need not share one request.
  var isInProcess: Bool { get }

  /// The request as the rules of caching see it, without conditions.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` where what is asked makes no sense.
  func message(for request: Request) throws(CacheError) -> HTTPRequest

  /// Asks the origin.
  ///
  /// - Parameters:
  ///   - request: what is asked.
  ///   - conditions: header fields that make the request conditional on what the cache holds; empty where it is not.
  /// - Throws: `CacheError`: `originUnreachable`, `originRefused`, `notFound`, `invalidAnswer`, `invalidRequest`,
  ///   `cancelled`.
  func answer(to request: Request, conditions: HTTPFields) async throws(CacheError) -> OriginAnswer<Response>
}

extension ResponseOrigin {
  /// No: an origin is somewhere else unless it says so.
  public var isInProcess: Bool { false }

  /// The request of an origin that is not reached by HTTP.
  public func message(for request: Request) throws(CacheError) -> HTTPRequest {
    HTTPRequest(url: "\(name):\(Request.resource)")
  }
}

/// What an origin answers.
public struct OriginAnswer<Response: Sendable>: Sendable {
  /// The status and the header fields, by which the answer may be stored and reused.
  public let head: HTTPResponseHead
  /// The whole and valid answer; `nil` where the origin confirms what the cache holds (status 304).
  public let response: Response?
  /// The status that the origin sent, which is not that of `head` where it only completed what the cache holds.
  public let status: Int

  /// An answer with the given parts. The status is that of `head` unless another one is given.
  public init(head: HTTPResponseHead, response: Response?, status: Int? = nil) {
    self.head = head
    self.response = response
    self.status = status ?? head.status
  }
}

/// An origin of pages of cities.
public protocol CityOrigin: ResponseOrigin where Request == CitiesRequestDTO, Response == CitiesPageDTO {}

/// An origin of pages of movies.
public protocol MovieOrigin: ResponseOrigin where Request == MoviesRequestDTO, Response == MoviesPageDTO {}

/// An origin of posters.
public protocol PosterOrigin: ResponseOrigin where Request == PosterRequestDTO, Response == PosterDTO {}
