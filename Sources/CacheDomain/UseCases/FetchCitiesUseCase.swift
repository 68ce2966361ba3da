/// Shows cities in an order.
public struct FetchCitiesUseCase: Sendable {
  private let repository: any CityRepository

  /// The use case over `repository`.
  public init(repository: any CityRepository) {
    self.repository = repository
  }

  /// The page of cities that `query` asks for, fetched as `options` say.
  public func execute(_ query: CitiesQuery, options: FetchOptions = FetchOptions()) -> Snapshots<CitiesPage> {
    repository.cities(query, options: options)
  }
}
