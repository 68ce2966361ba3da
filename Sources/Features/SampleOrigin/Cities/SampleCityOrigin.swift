internal import CSampleData
public import CacheData
internal import CacheBase
internal import CacheDomain
internal import Synchronization

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
  /// Reads the rows of that page in a few microseconds, after two milliseconds in the first call of a process. It does not
  /// suspend.
  ///
  /// - Throws: `CacheError`: `invalidRequest` for a negative page, `cancelled`.
  public func answer(
    to request: CitiesRequestDTO, conditions: HTTP.Fields
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

/// The embedded cities. Rows are parsed on demand.
///
/// `Scripts/make-sample-data` writes the columns; `Sources/Features/CSampleData/README.md` lists them.
enum CityTable {
  private static let rows = EmbeddedText(csample_cities())
  private static let rowLength = 43
  /// The columns of a row: numbers are right-aligned.
  private static let (name, revenue, organizations) = (3..<25, 26..<37, 38..<42)

  /// The numbers of the cities in each order that has been asked for. To sort them takes a millisecond.
  private static let orders = Mutex<[[Int]]>(Array(repeating: [], count: 6))

  /// The number of cities.
  static var count: Int { rows.count / rowLength }

  /// The city in line `index`, from 0; `nil` if the table has no such line.
  static func city(_ index: Int) -> City? {
    guard (0..<count).contains(index) else { return nil }
    let start = index * rowLength
    let state = rows.string(start..<start + 2)
    let name = trimmed(range(name, ofRow: index))
    guard let revenue = rows.number(range(revenue, ofRow: index)),
      let organizations = rows.number(range(organizations, ofRow: index))
    else { return nil }
    return City(
      id: "\(state)/\(name)", name: name, subName: state, revenue: revenue, organizationCount: organizations)
  }

  private static func range(_ column: Range<Int>, ofRow index: Int) -> Range<Int> {
    index * rowLength + column.lowerBound..<index * rowLength + column.upperBound
  }

  /// The city at `position`, from 0, in the given order. The identifier breaks ties, ascending in both directions.
  static func city(at position: Int, order: CityOrder, direction: SortDirection) -> City? {
    guard (0..<count).contains(position) else { return nil }
    let (place, column) =
      switch order {
      case .revenue: (0, revenue)
      case .organizations: (2, organizations)
      case .name: (4, name)
      }
    let isAscending = direction == .ascending
    return orders.withLock { orders in
      let place = isAscending ? place : place + 1
      if orders[place].isEmpty { orders[place] = sorted(by: column, isAscending) }
      return city(orders[place][position])
    }
  }

  /// The numbers of the cities by the bytes of `column`. The rows are in the order of the identifiers.
  private static func sorted(by column: Range<Int>, _ isAscending: Bool) -> [Int] {
    (0..<count).sorted { left, right in
      guard let bytes = rows.bytes.baseAddress else { return false }
      let (first, second) = (range(column, ofRow: left).lowerBound, range(column, ofRow: right).lowerBound)
      let difference = memcmp(bytes + first, bytes + second, column.count)
      return difference == 0 ? left < right : (difference < 0) == isAscending
    }
  }

  private static func trimmed(_ range: Range<Int>) -> String {
    let end = rows.bytes[range].lastIndex { $0 != UInt8(ascii: " ") } ?? range.lowerBound - 1
    return rows.string(range.lowerBound..<end + 1)
  }
}
