/// A source of cities.
public protocol CityRepository: Sendable {
  /// Fetches the page of cities that `query` describes, as `options` say.
  func cities(_ query: CitiesQuery, options: FetchOptions) -> Snapshots<CitiesPage>
}
