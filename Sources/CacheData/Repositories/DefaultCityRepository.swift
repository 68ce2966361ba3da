public import CacheDomain

/// Cities from a storage and an origin.
public struct DefaultCityRepository: CityRepository {
  private let storage: any CityResponseStorage
  private let origin: any CityOrigin
  private let freshness: FreshnessPolicy

  /// The repository over `storage` and `origin`, whose answers are of use for as long as `freshness` says.
  public init(storage: any CityResponseStorage, origin: any CityOrigin, freshness: FreshnessPolicy) {
    self.storage = storage
    self.origin = origin
    self.freshness = freshness
  }

  /// The page of cities that `query` asks for, fetched as `options` say.
  public func cities(_ query: CitiesQuery, options: FetchOptions) -> Snapshots<CitiesPage> {
    fetch(
      CitiesRequestDTO(origin: origin.name, query: query), storage: storage, origin: origin,
      freshness: freshness, options: options
    ) { $0.toDomain() }
  }
}
