/// A city, with the revenue of all its organisations.
public struct City: Sendable, Hashable, Identifiable {
  /// The city's identifier, unique within its origin.
  public let id: String
  /// The city's name, as its origin writes it.
  public let name: String
  /// The state; `nil` if the origin does not know it.
  public let subName: String?
  /// The total yearly revenue of its organisations in whole US dollars; `nil` if the origin does not know it.
  public let revenue: Int?
  /// The number of organisations; `nil` if the origin does not know it.
  public let organizationCount: Int?

  /// Creates a city.
  public init(id: String, name: String, subName: String?, revenue: Int?, organizationCount: Int?) {
    self.id = id
    self.name = name
    self.subName = subName
    self.revenue = revenue
    self.organizationCount = organizationCount
  }
}

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

/// Which page of cities to fetch, and in what order.
public struct CitiesQuery: Sendable, Hashable {
  /// What cities are ordered by.
  public let order: CityOrder
  /// The direction of the order.
  public let direction: SortDirection
  /// The page, from 0.
  public let page: Int

  /// Creates a query. Without a direction, numbers are sorted in descending and names in ascending order.
  public init(order: CityOrder = .revenue, direction: SortDirection? = nil, page: Int = 0) {
    self.order = order
    self.direction = direction ?? order.defaultDirection
    self.page = page
  }
}

/// What cities can be ordered by.
public enum CityOrder: String, Sendable, CaseIterable {
  /// The revenue of the city's organisations.
  case revenue
  /// The number of the city's organisations.
  case organizations
  /// The city's name.
  case name

  /// The direction that people expect if they do not give one.
  public var defaultDirection: SortDirection { self == .name ? .ascending : .descending }
}

/// The direction of an order.
public enum SortDirection: String, Sendable, CaseIterable {
  /// The smallest first.
  case ascending = "asc"
  /// The largest first.
  case descending = "desc"
}
