/// One page of cities.
public struct CitiesPage: Sendable, Hashable {
  /// The number of this page, from 0.
  public let page: Int
  /// How many pages there are.
  public let totalPages: Int
  /// How many cities there are on all pages.
  public let totalItems: Int
  /// The cities of this page, in the order that was asked for.
  public let cities: [City]

  /// A page with the given fields.
  public init(page: Int, totalPages: Int, totalItems: Int, cities: [City]) {
    self.page = page
    self.totalPages = totalPages
    self.totalItems = totalItems
    self.cities = cities
  }
}
