/// Shows cities in an order.
public struct FetchCitiesUseCase: Sendable {
  private let repository: any CityRepository

  /// The use case over `repository`.
  public init(repository: any CityRepository) {
    self.repository = repository
  }

  /// The page of cities that `query` asks for, fetched as `options` say. Beyond the last page there is the error
  /// `notFound`.
  public func execute(_ query: CitiesQuery, options: FetchOptions = FetchOptions()) -> Snapshots<CitiesPage> {
    anyPage(query, options: options).checked { page throws(CacheError) in try page.checkExists() }
  }

  /// The same, where a page beyond the last is one without cities.
  func anyPage(_ query: CitiesQuery, options: FetchOptions) -> Snapshots<CitiesPage> {
    repository.cities(query, options: options)
  }
}
