public import CachedFetching
public import ResponseStorage

/// Stores pages of cities.
public protocol CityResponseStorage: ResponseStore where Request == CitiesRequestDTO, Response == CitiesPageDTO {}

/// Stores pages of cities as entries of an engine.
public typealias EngineCityResponseStorage = EngineResponseStorage<CitiesRequestDTO, CitiesPageDTO>

extension EngineResponseStorage: CityResponseStorage where Request == CitiesRequestDTO, Response == CitiesPageDTO {
  /// Creates a storage over `store` whose payloads are JSON.
  public init(store: EntryStore) {
    self.init(store: store, codec: .json)
  }
}
