/// The text of a search for movies.
public struct MovieQuery: Sendable, Hashable {
  /// The text, without white space around it and with single spaces between words.
  public let text: String

  /// Creates a query for `text`; `nil` if it contains only white space.
  public init?(_ text: String) {
    self.text = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    if self.text.isEmpty { return nil }
  }
}

/// An earlier search.
public struct RecentMovieQuery: Sendable, Hashable {
  /// The query.
  public let query: MovieQuery
  /// The time of the last search for it, since 1970-01-01T00:00:00Z.
  public let searchedAt: Duration

  /// Creates the record of a search.
  public init(query: MovieQuery, searchedAt: Duration) {
    self.query = query
    self.searchedAt = searchedAt
  }
}
