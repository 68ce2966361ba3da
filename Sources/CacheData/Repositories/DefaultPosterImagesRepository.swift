public import CacheDomain

/// Posters from a storage and an origin.
public struct DefaultPosterImagesRepository: PosterImagesRepository {
  private let storage: any PosterResponseStorage
  private let origin: any PosterOrigin
  private let freshness: FreshnessPolicy

  /// The repository over `storage` and `origin`, whose answers are of use for as long as `freshness` says.
  public init(storage: any PosterResponseStorage, origin: any PosterOrigin, freshness: FreshnessPolicy) {
    self.storage = storage
    self.origin = origin
    self.freshness = freshness
  }

  /// The poster that `query` asks for, fetched as `options` say.
  public func poster(_ query: PosterQuery, options: FetchOptions) -> Snapshots<Poster> {
    fetch(
      PosterRequestDTO(origin: origin.name, query: query), storage: storage, origin: origin,
      freshness: freshness, options: options
    ) { $0.toDomain() }
  }
}
