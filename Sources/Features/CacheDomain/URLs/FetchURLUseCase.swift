/// A source of answers to requests for URLs.
public protocol URLRepository: Sendable {
  /// Fetches the answer to `query` as `options` say, and follows redirects.
  func answer(to query: URLQuery, options: FetchOptions) -> Snapshots<URLAnswer>
}

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
