public import CacheDomain

/// Movies from a storage and an origin.
public struct DefaultMoviesRepository: MoviesRepository {
  private let storage: any MoviesResponseStorage
  private let origin: any MovieOrigin
  private let services: FetchServices

  /// Creates a repository that fetches with `services`.
  public init(storage: any MoviesResponseStorage, origin: any MovieOrigin, services: FetchServices) {
    self.storage = storage
    self.origin = origin
    self.services = services
  }

  /// Fetches page `page` (from 1) of the movies that match `query`, as `options` say.
  public func movies(_ query: MovieQuery, page: Int, options: FetchOptions) -> Snapshots<MoviesPage> {
    fetch(
      MoviesRequestDTO(origin: origin.name, query: query, page: page), storage: storage, origin: origin,
      services: services, options: options, mayKeep: { !$0.toDomain().isBeyondLast }
    ) { $0.toDomain() }
  }
}
