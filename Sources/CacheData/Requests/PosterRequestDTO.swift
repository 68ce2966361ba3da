public import CacheDomain

/// A request for the image of a poster.
public struct PosterRequestDTO: CacheableRequest {
  /// The namespace of posters.
  public static let resource = "posters"

  /// The name of the origin that is asked.
  public let origin: String
  /// Which poster, and how wide.
  public let query: PosterQuery

  /// A request for what `query` says, to the origin called `origin`.
  public init(origin: String, query: PosterQuery) {
    self.origin = origin
    self.query = query
  }

  /// The origin, the path and the width.
  public var parameters: [(name: String, value: String)] {
    [("origin", origin), ("path", query.path), ("width", String(query.width))]
  }
}
