/// Where posters come from.
public protocol PosterImagesRepository: Sendable {
  /// The poster that `query` asks for, fetched as `options` say.
  func poster(_ query: PosterQuery, options: FetchOptions) -> Snapshots<Poster>
}
