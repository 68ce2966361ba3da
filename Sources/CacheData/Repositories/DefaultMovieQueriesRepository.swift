public import CacheDomain

/// Recent queries from a storage.
public struct DefaultMovieQueriesRepository: MovieQueriesRepository {
  private let storage: any MovieQueriesStorage

  /// The repository over `storage`.
  public init(storage: any MovieQueriesStorage) {
    self.storage = storage
  }

  /// The queries searched last, the newest first, each once.
  public func recentQueries() async throws(CacheError) -> [RecentMovieQuery] {
    try await storage.recentQueries()
  }

  /// Makes `query` the newest one.
  public func save(_ query: MovieQuery) async throws(CacheError) {
    try await storage.save(query)
  }
}
