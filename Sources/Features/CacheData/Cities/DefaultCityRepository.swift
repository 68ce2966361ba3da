public import CacheDomain

/// Cities from a storage and an origin.
public struct DefaultCityRepository: CityRepository {
  private let storage: any CityResponseStorage
  private let origin: any CityOrigin
  private let services: FetchServices

  /// Creates a repository that fetches with `services`.
  public init(storage: any CityResponseStorage, origin: any CityOrigin, services: FetchServices) {
    self.storage = storage
    self.origin = origin
    self.services = services
  }

  /// Fetches the page of cities that `query` describes, as `options` say.
  public func cities(_ query: CitiesQuery, options: FetchOptions) -> Snapshots<CitiesPage> {
    fetch(
      CitiesRequestDTO(origin: origin.name, query: query), storage: storage, origin: origin,
      services: services, options: options, mayKeep: { !$0.toDomain().isBeyondLast }
    ) { $0.toDomain() }
  }
}
