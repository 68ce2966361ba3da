public import CacheDomain

/// Movies from a storage and an origin.
public struct DefaultMoviesRepository: MoviesRepository {
  private let storage: any MoviesResponseStorage
  private let origin: any MovieOrigin
  private let freshness: FreshnessPolicy

  /// The repository over `storage` and `origin`, whose answers are of use for as long as `freshness` says.
  public init(storage: any MoviesResponseStorage, origin: any MovieOrigin, freshness: FreshnessPolicy) {
    self.storage = storage
    self.origin = origin
    self.freshness = freshness
  }

  /// Page `page` (from 1) of the movies that `query` finds, fetched as `options` say.
  public func movies(_ query: MovieQuery, page: Int, options: FetchOptions) -> Snapshots<MoviesPage> {
    fetch(
      MoviesRequestDTO(origin: origin.name, query: query, page: page), storage: storage, origin: origin,
      freshness: freshness, options: options
    ) { $0.toDomain() }
  }
}
