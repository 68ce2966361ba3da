public import CacheDomain

/// The most recent queries.
public struct QueriesView: OutputView {
  private let queries: [RecentMovieQuery]
  private let now: Duration
  private let limit: Int?

  /// The view of `queries`, in their order, at the time `now` since 1970-01-01T00:00:00Z; `limit` is the requested
  /// maximum.
  public init(_ queries: [RecentMovieQuery], now: Duration, limit: Int? = nil) {
    self.queries = queries
    self.now = now
    self.limit = limit
  }

  /// The document `{"queries": [{"query", "searchedAt"}]}`.
  public var json: JSONValue { ["queries": .array(records)] }

  /// The names of the members of a query.
  public var columns: [String] { ["query", "searchedAt"] }

  /// The queries.
  public var records: [JSONValue] {
    queries.map { ["query": .string($0.query.text), "searchedAt": JSONValue(time: $0.searchedAt)] }
  }

  /// The queries, each with the time since it was searched.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let rows = queries.map { recent in
      [
        Table.Cell(recent.query.text, .plain),
        Table.Cell(RelativeTimeText.past(recent.searchedAt, now: now), .dim),
      ]
    }
    return Table([.init("Query", isShrinkable: true), .init("Searched")], rows: rows)
      .text(on: screen, hasHeader: hasHeader)
  }

  /// The remark that there are none. With a limit of 0 that is unknown.
  public var status: StatusLine? {
    guard queries.isEmpty else { return nil }
    return StatusLine([limit == 0 ? "None shown" : "No queries yet"])
  }
}
