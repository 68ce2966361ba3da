/// Where cities come from.
public protocol CityRepository: Sendable {
  /// The page of cities that `query` asks for, fetched as `options` say.
  func cities(_ query: CitiesQuery, options: FetchOptions) -> Snapshots<CitiesPage>
}
