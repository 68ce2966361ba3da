/// The text that movies are searched by.
public struct MovieQuery: Sendable, Hashable {
  /// The text, without white space around it and with single spaces inside.
  public let text: String

  /// The query for `text`; `nil` where it holds nothing but white space.
  public init?(_ text: String) {
    self.text = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    if self.text.isEmpty { return nil }
  }
}

/// A query that was searched before.
public struct RecentMovieQuery: Sendable, Hashable {
  /// The query.
  public let query: MovieQuery
  /// When it was searched last, since 1970-01-01T00:00:00Z.
  public let searchedAt: Duration

  /// A recent query with the given fields.
  public init(query: MovieQuery, searchedAt: Duration) {
    self.query = query
    self.searchedAt = searchedAt
  }
}
