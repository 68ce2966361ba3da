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

  /// Whether it lies beyond the last page. Origins answer such a page too, without cities.
  public var isBeyondLast: Bool { page > 0 && cities.isEmpty && page >= totalPages }

  /// - Throws: `CacheError` with the code `notFound` where it lies beyond the last page.
  func checkExists() throws(CacheError) {
    guard isBeyondLast else { return }
    throw CacheError(
      .notFound, "there is no page \(page) of cities",
      hint: totalPages > 0 ? "pages are numbered from 0, and the last is \(totalPages - 1)" : "there are no cities")
  }

  /// A page with the given fields.
  public init(page: Int, totalPages: Int, totalItems: Int, cities: [City]) {
    self.page = page
    self.totalPages = totalPages
    self.totalItems = totalItems
    self.cities = cities
  }
}
