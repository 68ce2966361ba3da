internal import CacheData
public import CacheDomain
internal import ResponseStorage

/// Builds the cities feature.
public struct CitiesDIContainer: Sendable {
  let store: EntryStore
  let origin: any CityOrigin
  let services: FetchServices

  /// Fetches a page of cities in a given order.
  public func makeFetchCitiesUseCase() -> FetchCitiesUseCase {
    FetchCitiesUseCase(repository: makeCityRepository())
  }

  private func makeCityRepository() -> any CityRepository {
    DefaultCityRepository(storage: makeCityResponseStorage(), origin: origin, services: services)
  }

  private func makeCityResponseStorage() -> any CityResponseStorage {
    EngineCityResponseStorage(store: store)
  }
}
