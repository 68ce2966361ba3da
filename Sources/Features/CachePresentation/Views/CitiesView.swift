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
      .init("City", isShrinkable: true), .init("State", priority: -1), .init("Revenue", .right),
      .init("Organizations", .right),
    ]
    guard let first = firstPosition else { return Table(columns, rows: shown.map(Self.row)) }
    let rows = zip(first..., shown).map { [Table.Cell(NumberText.text($0), .dim)] + Self.row($1) }
    return Table([.init("#", .right, priority: -2)] + columns, rows: rows)
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

/// All cities, from many pages, and where the pages came from.
public struct AllCitiesView: OutputView {
  private let whole: CitiesView
  private let origin: SnapshotOrigin
  private let summary: PagesSummary
  private let count: Int

  /// The view of `cities`, which came on the pages of `summary` through the store called `backend` (`nil` if there was
  /// no store). Shows only the first `limit`, or all without a limit. `cities` may be empty if they were shown page by
  /// page: the view then describes only the pages.
  public init(_ cities: [City], _ summary: PagesSummary, backend: String?, limit: Int? = nil) {
    let snapshot = summary.snapshot(of: cities)
    self.whole = CitiesView(snapshot, backend: backend, limit: limit)
    self.origin = SnapshotOrigin(snapshot, backend: backend)
    self.summary = summary
    self.count = min(limit ?? summary.cityCount, summary.cityCount)
  }

  /// The document of a fetch, with all cities on one page.
  public var json: JSONValue { whole.json }

  /// The names of the members of a city.
  public var columns: [String] { whole.columns }

  /// The cities.
  public var records: [JSONValue] { whole.records }

  /// The cities for people.
  public func table(on screen: Screen, hasHeader: Bool) -> String { whole.table(on: screen, hasHeader: hasHeader) }

  /// A remark such as "6,057 cities · 243 pages · 120 from cache (ENGINE), 123 from the origin".
  public var status: StatusLine? {
    let kinds = [summary.cachedPages, summary.confirmedPages, summary.fetchedPages]
    guard kinds.count(where: { $0 > 0 }) > 1 else { return origin.status(extent) }
    return StatusLine(extent + [sources, origin.freshness], style: origin.isStale ? .yellow : .dim)
  }

  /// The failures on the way to these cities, each kind once.
  public var warnings: [ErrorView] {
    summary.warnings.map { warning in
      let more = summary.warningCounts[warning.code, default: 1] - 1
      let message = more > 0 ? "\(warning.message) (and \(NumberText.text(more)) more like it)" : warning.message
      return ErrorView(
        code: warning.code.rawValue, message: message, hint: ErrorView(warning, backend: origin.backend).hint)
    }
  }

  private var extent: [String] {
    let isWhole = count == summary.cityCount && summary.donePages >= summary.totalPages
    guard !isWhole else {
      guard count > 0 else { return ["No cities"] }
      return [NumberText.count(count, "city", "cities"), NumberText.count(summary.donePages, "page", "pages")]
    }
    let cities = NumberText.count(summary.totalItems, "city", "cities")
    let pages = NumberText.count(summary.totalPages, "page", "pages")
    return ["First \(NumberText.text(count)) of \(cities)", "\(NumberText.text(summary.donePages)) of \(pages)"]
  }

  private var sources: String {
    let parts = [
      (summary.cachedPages, origin.cache), (summary.confirmedPages, "confirmed by the origin"),
      (summary.fetchedPages, "from the origin"),
    ]
    return parts.filter { $0.0 > 0 }.map { "\(NumberText.text($0.0)) \($0.1)" }.joined(separator: ", ")
  }
}
