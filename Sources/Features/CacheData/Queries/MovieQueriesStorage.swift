public import CacheDomain

/// Stores recent searches.
public protocol MovieQueriesStorage: Sendable {
  /// The queries, newest first, without duplicates.
  ///
  /// - Throws: `CacheError`: the storage failed, or the entry is damaged (`damaged`).
  func recentQueries() async throws(CacheError) -> [RecentMovieQuery]

  /// Makes `query` the most recent one, and drops the oldest if there are too many. Keeps what other processes save at
  /// the same time.
  ///
  /// - Throws: `CacheError`: the storage failed, and nothing has changed.
  func save(_ query: MovieQuery) async throws(CacheError)
}
