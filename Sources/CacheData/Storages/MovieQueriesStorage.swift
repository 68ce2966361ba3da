public import CacheDomain

/// Keeps the queries searched last.
public protocol MovieQueriesStorage: Sendable {
  /// The queries, the newest first, each once.
  ///
  /// - Throws: `CacheError`: the storage failed, or holds what it was not given (`damaged`).
  func recentQueries() async throws(CacheError) -> [RecentMovieQuery]

  /// Makes `query` the newest one; the oldest goes where there are too many. Nothing that another process saves at the
  /// same time is lost.
  ///
  /// - Throws: `CacheError`: the storage failed; what was kept before still is.
  func save(_ query: MovieQuery) async throws(CacheError)
}
