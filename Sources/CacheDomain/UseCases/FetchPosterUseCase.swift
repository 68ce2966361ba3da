/// Shows the poster of a movie.
public struct FetchPosterUseCase: Sendable {
  private let repository: any PosterImagesRepository

  /// The use case over `repository`.
  public init(repository: any PosterImagesRepository) {
    self.repository = repository
  }

  /// The poster that `query` asks for, fetched as `options` say.
  public func execute(_ query: PosterQuery, options: FetchOptions = FetchOptions()) -> Snapshots<Poster> {
    repository.poster(query, options: options)
  }
}
