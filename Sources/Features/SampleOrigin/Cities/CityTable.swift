internal import CSampleData
internal import CacheDomain

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
