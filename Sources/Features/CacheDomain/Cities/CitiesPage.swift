/// One page of cities.
public struct CitiesPage: Sendable, Hashable {
  /// The number of this page, from 0.
  public let page: Int
  /// The number of pages.
  public let totalPages: Int
  /// The number of cities on all pages.
  public let totalItems: Int
  /// The cities of this page, in the requested order.
  public let cities: [City]

  /// Whether this page is beyond the last one. Origins answer requests for such pages too, without cities.
  public var isBeyondLast: Bool { page > 0 && cities.isEmpty && page >= totalPages }

  /// - Throws: `CacheError` with the code `notFound` if this page is beyond the last one.
  func checkExists() throws(CacheError) {
    guard isBeyondLast else { return }
    throw CacheError(
      .notFound, "there is no page \(page) of cities",
      hint: totalPages > 0 ? "pages are numbered from 0, and the last is \(totalPages - 1)" : "there are no cities")
  }

  /// Creates a page.
  public init(page: Int, totalPages: Int, totalItems: Int, cities: [City]) {
    self.page = page
    self.totalPages = totalPages
    self.totalItems = totalItems
    self.cities = cities
  }
}
