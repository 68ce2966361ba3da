public import CacheDomain

/// Posters from a storage and an origin.
public struct DefaultPosterImagesRepository: PosterImagesRepository {
  private let storage: any PosterResponseStorage
  private let origin: any PosterOrigin
  private let services: FetchServices

  /// Creates a repository that fetches with `services`.
  public init(storage: any PosterResponseStorage, origin: any PosterOrigin, services: FetchServices) {
    self.storage = storage
    self.origin = origin
    self.services = services
  }

  /// Fetches the poster that `query` describes, as `options` say.
  public func poster(_ query: PosterQuery, options: FetchOptions) -> Snapshots<Poster> {
    fetch(
      PosterRequestDTO(origin: origin.name, query: query), storage: storage, origin: origin,
      services: services, options: options
    ) { $0.toDomain() }
  }
}
