/// Which page of cities is wanted, and in what order.
public struct CitiesQuery: Sendable, Hashable {
  /// What cities are ordered by.
  public let order: CityOrder
  /// In which direction.
  public let direction: SortDirection
  /// The page, from 0.
  public let page: Int

  /// A query; without a direction numbers are sorted descending and names ascending.
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

  /// The direction that people expect where they name none.
  public var defaultDirection: SortDirection { self == .name ? .ascending : .descending }
}

/// The direction of an order.
public enum SortDirection: String, Sendable, CaseIterable {
  /// The smallest first.
  case ascending = "asc"
  /// The largest first.
  case descending = "desc"
}
