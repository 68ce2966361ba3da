/// Remembers what was searched.
public protocol MovieQueriesRepository: Sendable {
  /// The queries searched last, the newest first, each once.
  func recentQueries() async throws(CacheError) -> [RecentMovieQuery]

  /// Makes `query` the newest one.
  func save(_ query: MovieQuery) async throws(CacheError)
}
