/// Fetches a page of cities in an order.
public struct FetchCitiesUseCase: Sendable {
  private let repository: any CityRepository

  /// Creates a use case over `repository`.
  public init(repository: any CityRepository) {
    self.repository = repository
  }

  /// Fetches the page of cities that `query` describes, as `options` say. Throws `notFound` beyond the last page.
  public func execute(_ query: CitiesQuery, options: FetchOptions = FetchOptions()) -> Snapshots<CitiesPage> {
    anyPage(query, options: options).checked { page throws(CacheError) in try page.checkExists() }
  }

  /// Like `execute`, but returns an empty page beyond the last one.
  func anyPage(_ query: CitiesQuery, options: FetchOptions) -> Snapshots<CitiesPage> {
    repository.cities(query, options: options)
  }
}
