/// A source of posters.
public protocol PosterImagesRepository: Sendable {
  /// Fetches the poster that `query` describes, as `options` say.
  func poster(_ query: PosterQuery, options: FetchOptions) -> Snapshots<Poster>
}
