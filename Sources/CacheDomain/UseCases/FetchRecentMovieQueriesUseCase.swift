/// Shows what was searched last.
public struct FetchRecentMovieQueriesUseCase: Sendable {
  private let repository: any MovieQueriesRepository

  /// The use case over `repository`.
  public init(repository: any MovieQueriesRepository) {
    self.repository = repository
  }

  /// The queries searched last, the newest first, at most `limit` (0 or more).
  public func execute(limit: Int = .max) async throws(CacheError) -> [RecentMovieQuery] {
    Array(try await repository.recentQueries().prefix(limit))
  }
}
