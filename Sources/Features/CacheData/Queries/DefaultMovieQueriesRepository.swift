public import CacheDomain

/// Recent searches from a storage.
public struct DefaultMovieQueriesRepository: MovieQueriesRepository {
  private let storage: any MovieQueriesStorage

  /// Creates a repository over `storage`.
  public init(storage: any MovieQueriesStorage) {
    self.storage = storage
  }

  /// The most recent queries, newest first, without duplicates.
  public func recentQueries() async throws(CacheError) -> [RecentMovieQuery] {
    try await storage.recentQueries()
  }

  /// Makes `query` the most recent one.
  public func save(_ query: MovieQuery) async throws(CacheError) {
    try await storage.save(query)
  }
}
