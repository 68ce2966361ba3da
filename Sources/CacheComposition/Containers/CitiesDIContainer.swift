internal import CacheData
public import CacheDomain
internal import ResponseStorage

/// Makes what the cities feature needs.
public struct CitiesDIContainer: Sendable {
  let store: EntryStore
  let origin: any CityOrigin
  let services: FetchServices

  /// Shows cities in an order.
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
