public import CachedFetching
public import ResponseStorage

/// Stores pages of movies.
public protocol MoviesResponseStorage: ResponseStore where Request == MoviesRequestDTO, Response == MoviesPageDTO {}

/// Stores pages of movies as entries of an engine.
public typealias EngineMoviesResponseStorage = EngineResponseStorage<MoviesRequestDTO, MoviesPageDTO>

extension EngineResponseStorage: MoviesResponseStorage where Request == MoviesRequestDTO, Response == MoviesPageDTO {
  /// Creates a storage over `store` whose payloads are JSON.
  public init(store: EntryStore) {
    self.init(store: store, codec: .json)
  }
}
