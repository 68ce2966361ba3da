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
