internal import CacheData
public import CacheDomain
internal import SampleOrigin

/// Builds the cities feature.
public struct CitiesDIContainer: Sendable {
  private let context: ResourceContext
  private let origin: any CityOrigin

  /// The container over what `context` has, with the configured origin.
  ///
  /// - Throws: `CacheError` if the configured origin has no address.
  public init(_ context: ResourceContext) throws(CacheError) {
    self.context = context
    let settings = context.configuration.cities
    switch settings.kind {
    case .sample: origin = SampleCityOrigin()
    case .propublica:
      let address = settings.baseURL ?? ProPublicaCityOrigin.address
      origin = ProPublicaCityOrigin(try context.server(at: address, settings.transport))
    case .http:
      guard let address = settings.baseURL else {
        throw CacheError(.originUnavailable, "'origin.cities.baseURL' has no value", hint: "give it an address")
      }
      origin = HTTPCityOrigin(try context.server(at: address, settings.transport))
    }
  }

  /// Fetches a page of cities in a given order.
  public func makeFetchCitiesUseCase() -> FetchCitiesUseCase {
    FetchCitiesUseCase(repository: makeCityRepository())
  }

  private func makeCityRepository() -> any CityRepository {
    DefaultCityRepository(storage: makeCityResponseStorage(), origin: origin, services: context.services)
  }

  private func makeCityResponseStorage() -> any CityResponseStorage {
    EngineCityResponseStorage(store: context.store)
  }
}

extension AppDIContainer {
  /// The container of the cities feature over `store`.
  ///
  /// - Throws: `CacheError` if the configured origin has no address.
  public func makeCitiesDIContainer(_ store: OpenStore) throws(CacheError) -> CitiesDIContainer {
    try CitiesDIContainer(context(store))
  }
}
