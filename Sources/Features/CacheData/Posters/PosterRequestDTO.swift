public import CacheDomain

/// A request for a poster.
public struct PosterRequestDTO: CacheableRequest {
  /// The namespace of posters.
  public static let resource = "posters"

  /// The origin's name.
  public let origin: String
  /// Which poster to fetch, and how wide.
  public let query: PosterQuery

  /// Creates a request for `query` to the origin called `origin`.
  public init(origin: String, query: PosterQuery) {
    self.origin = origin
    self.query = query
  }

  /// The origin, the path and the width.
  public var parameters: [(name: String, value: String)] {
    [("origin", origin), ("path", query.path), ("width", String(query.width))]
  }
}
