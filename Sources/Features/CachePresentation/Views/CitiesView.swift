public import CacheDomain

/// A fetched page of cities.
public typealias CitiesView = PageView<CitiesPage>

extension CitiesPage: PresentablePage {
  /// The resource's name.
  public static var resource: String { "cities" }
  /// The singular and the plural of "city".
  public static var nouns: (singular: String, plural: String) { ("city", "cities") }
  /// Pages of cities begin at 0.
  public static var firstPage: Int { 0 }
  /// The names of the members of a city.
  public static var itemColumns: [String] { ["id", "name", "subName", "revenue", "organizationCount"] }

  /// The number of cities on the page.
  public var itemCount: Int { cities.count }

  /// The documents of the cities.
  public var items: [JSONValue] {
    cities.map { city in
      [
        "id": .string(city.id), "name": .string(city.name), "subName": JSONValue(city.subName),
        "revenue": JSONValue(city.revenue), "organizationCount": JSONValue(city.organizationCount),
      ]
    }
  }

  /// The cities with their positions in the whole order, if known.
  public func table(first count: Int) -> Table {
    let shown = cities.prefix(count)
    let columns: [Table.Column] = [
      .init("City", isShrinkable: true), .init("State"), .init("Revenue", .right), .init("Organizations", .right),
    ]
    guard let first = firstPosition else { return Table(columns, rows: shown.map(Self.row)) }
    let rows = zip(first..., shown).map { [Table.Cell(NumberText.text($0), .dim)] + Self.row($1) }
    return Table([.init("#", .right)] + columns, rows: rows)
  }

  private static func row(_ city: City) -> [Table.Cell] {
    [
      .init(city.name, .plain), .init(city.subName), .init(city.revenue.map(NumberText.dollars)),
      .init(city.organizationCount.map(NumberText.text)),
    ]
  }

  /// The position of the first city, from 1; `nil` if pages differ in size, as when an origin counts something other
  /// than cities.
  private var firstPosition: Int? {
    // The bound keeps the products below in range, whatever an origin claims.
    guard page >= 0, page < totalPages, totalPages <= totalItems, totalItems < 1 << 31 else { return nil }
    let isLast = page > 0 && page == totalPages - 1
    let before = isLast ? totalItems - cities.count : page * cities.count
    let pageSize = isLast ? before / page : cities.count
    let isRegular = before == page * pageSize && (totalPages - 1) * pageSize < totalItems
    return isRegular && totalItems <= totalPages * pageSize ? before + 1 : nil
  }
}
