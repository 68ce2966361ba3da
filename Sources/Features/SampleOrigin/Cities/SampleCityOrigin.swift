internal import CSampleData
public import CacheData
internal import CacheDomain

/// The bundled cities: 6,057 cities of the US with the total revenue of their tax-exempt organizations.
///
/// Unlike the public API it knows every city's revenue and really orders by it. The identifier breaks ties, ascending
/// in both directions. A city's identifier is its state and name, such as `KY/LOUISVILLE`.
public struct SampleCityOrigin: CityOrigin {
  /// The number of cities on a page; the last page has the rest.
  public static let pageSize = 25

  /// The origin's name, "sample".
  public var name: String { SampleVersion.origin }

  /// True: the sample is part of the program.
  public var isInProcess: Bool { true }

  /// The origin. It has no state and costs nothing.
  public init() {}

  /// The page for `request`; beyond the last page an empty one with the totals.
  ///
  /// Reads only the rows of that page, which takes some microseconds, and does not suspend.
  ///
  /// - Throws: `CacheError`: `invalidRequest` for a negative page, `cancelled`.
  public func answer(
    to request: CitiesRequestDTO, conditions: HTTPFields
  ) async throws(CacheError) -> OriginAnswer<CitiesPageDTO> {
    let query = try request.query.checked()
    return try SampleAnswer.to(request, conditions) { CitiesPageDTO(page(query)) }
  }

  private func page(_ query: CitiesQuery) -> CitiesPage {
    let total = CityTable.count
    let totalPages = (total + Self.pageSize - 1) / Self.pageSize
    let first = min(query.page, totalPages) * Self.pageSize
    let positions = min(first, total)..<min(first + Self.pageSize, total)
    return CitiesPage(
      page: query.page, totalPages: totalPages, totalItems: total,
      cities: positions.compactMap { CityTable.city(at: $0, order: query.order, direction: query.direction) })
  }
}

/// The embedded cities and their six orders. Rows are parsed on demand.
///
/// `Scripts/make-sample-data` writes the columns; `Sources/Features/CSampleData/README.md` lists them.
enum CityTable {
  private static let rows = EmbeddedText(csample_cities())
  private static let orders = EmbeddedText(csample_city_orders())

  private static let rowLength = 43
  private static let orderRowLength = 30
  private static let orderColumnLength = 5

  /// The number of cities.
  static var count: Int { rows.count / rowLength }

  /// The city in line `index`, from 0; `nil` if the table has no such line.
  static func city(_ index: Int) -> City? {
    guard (0..<count).contains(index) else { return nil }
    let start = index * rowLength
    let state = rows.string(start..<start + 2)
    let name = trimmed(start + 3..<start + 25)
    guard let revenue = rows.number(start + 26..<start + 37) else { return nil }
    guard let organizations = rows.number(start + 38..<start + 42) else { return nil }
    return City(
      id: "\(state)/\(name)", name: name, subName: state, revenue: revenue, organizationCount: organizations)
  }

  /// The city at `position`, from 0, in the given order. The identifier breaks ties, ascending in both directions.
  static func city(at position: Int, order: CityOrder, direction: SortDirection) -> City? {
    guard (0..<count).contains(position) else { return nil }
    let start = position * orderRowLength + column(order, direction) * orderColumnLength
    return orders.number(start..<start + orderColumnLength - 1).flatMap { city($0) }
  }

  private static func column(_ order: CityOrder, _ direction: SortDirection) -> Int {
    let first =
      switch order {
      case .revenue: 0
      case .organizations: 2
      case .name: 4
      }
    return direction == .ascending ? first : first + 1
  }

  private static func trimmed(_ range: Range<Int>) -> String {
    let end = rows.bytes[range].lastIndex { $0 != UInt8(ascii: " ") } ?? range.lowerBound - 1
    return rows.string(range.lowerBound..<end + 1)
  }
}
