public import CacheDomain

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
      return ErrorView(code: warning.code.rawValue, message: message, hint: warning.hint)
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
