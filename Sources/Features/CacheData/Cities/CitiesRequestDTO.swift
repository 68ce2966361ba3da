public import CacheDomain

/// A request for a page of cities.
public struct CitiesRequestDTO: CacheableRequest {
  /// The namespace of pages of cities.
  public static let resource = "cities"

  /// The origin's name.
  public let origin: String
  /// Which page to fetch.
  public let query: CitiesQuery

  /// Creates a request for `query` to the origin called `origin`.
  public init(origin: String, query: CitiesQuery) {
    self.origin = origin
    self.query = query
  }

  /// The order, the origin, the page and the direction.
  public var parameters: [(name: String, value: String)] {
    [
      ("order", query.order.rawValue), ("origin", origin), ("page", String(query.page)),
      ("sort", query.direction.rawValue),
    ]
  }
}
