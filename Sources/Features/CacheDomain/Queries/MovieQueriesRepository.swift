/// Remembers searches.
public protocol MovieQueriesRepository: Sendable {
  /// The most recent queries, newest first, without duplicates.
  func recentQueries() async throws(CacheError) -> [RecentMovieQuery]

  /// Makes `query` the most recent one.
  func save(_ query: MovieQuery) async throws(CacheError)
}
