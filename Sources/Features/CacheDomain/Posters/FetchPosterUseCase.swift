/// A source of posters.
public protocol PosterImagesRepository: Sendable {
  /// Fetches the poster that `query` describes, as `options` say.
  func poster(_ query: PosterQuery, options: FetchOptions) -> Snapshots<Poster>
}

/// Fetches a movie's poster.
public struct FetchPosterUseCase: Sendable {
  private let repository: any PosterImagesRepository

  /// Creates a use case over `repository`.
  public init(repository: any PosterImagesRepository) {
    self.repository = repository
  }

  /// Fetches the poster that `query` describes, as `options` say.
  public func execute(_ query: PosterQuery, options: FetchOptions = FetchOptions()) -> Snapshots<Poster> {
    repository.poster(query, options: options)
  }
}
