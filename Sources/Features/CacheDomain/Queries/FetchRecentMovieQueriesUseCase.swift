/// Remembers searches.
public protocol MovieQueriesRepository: Sendable {
  /// The most recent queries, newest first, without duplicates.
  func recentQueries() async throws(CacheError) -> [RecentMovieQuery]

  /// Makes `query` the most recent one.
  func save(_ query: MovieQuery) async throws(CacheError)
}

/// Lists recent searches.
public struct FetchRecentMovieQueriesUseCase: Sendable {
  private let repository: any MovieQueriesRepository

  /// Creates a use case over `repository`.
  public init(repository: any MovieQueriesRepository) {
    self.repository = repository
  }

  /// Returns at most `limit` (0 or more) recent queries, newest first.
  public func execute(limit: Int = .max) async throws(CacheError) -> [RecentMovieQuery] {
    Array(try await repository.recentQueries().prefix(limit))
  }
}
