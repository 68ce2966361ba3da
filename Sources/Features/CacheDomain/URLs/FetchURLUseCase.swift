/// Fetches any URL through the cache.
public struct FetchURLUseCase: Sendable {
  private let repository: any URLRepository

  /// Creates a use case over `repository`.
  public init(repository: any URLRepository) {
    self.repository = repository
  }

  /// Fetches the answer to `query` as `options` say.
  public func execute(_ query: URLQuery, options: FetchOptions = FetchOptions()) -> Snapshots<URLAnswer> {
    repository.answer(to: query, options: options)
  }
}
