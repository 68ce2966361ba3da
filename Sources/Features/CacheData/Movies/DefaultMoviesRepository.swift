public import CacheDomain
public import CacheCore

/// A request for a page of search results.
public struct MoviesRequestDTO: CacheableRequest {
  /// The namespace of pages of movies.
  public static let resource = "movies"

  /// The pages that can be requested, however many a search reports.
  public static let pages = 1...500

  /// The origin's name.
  public let origin: String
  /// The search.
  public let query: MovieQuery
  /// The page, from 1.
  public let page: Int

  /// Creates a request for page `page` of the results of `query`, to the origin called `origin`.
  public init(origin: String, query: MovieQuery, page: Int) {
    self.origin = origin
    self.query = query
    self.page = page
  }

  /// The origin, the page and the search text.
  public var parameters: [(name: String, value: String)] {
    [("origin", origin), ("page", String(page)), ("query", query.text)]
  }

  /// - Throws: `CacheError` with the code `invalidRequest` for a page outside `pages`.
  package func checkPage() throws(CacheError) {
    guard !Self.pages.contains(page) else { return }
    throw CacheError(
      .invalidRequest, "there is no page \(page) of movies",
      hint: "ask for a page from \(Self.pages.lowerBound) to \(Self.pages.upperBound)")
  }
}

/// An origin of pages of movies.
public protocol MovieOrigin: ResponseOrigin where Request == MoviesRequestDTO, Response == MoviesPageDTO {}

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

/// Movies from a storage and an origin.
public struct DefaultMoviesRepository: MoviesRepository {
  private let storage: any MoviesResponseStorage
  private let origin: any MovieOrigin
  private let services: FetchServices

  /// Creates a repository that fetches with `services`.
  public init(storage: any MoviesResponseStorage, origin: any MovieOrigin, services: FetchServices) {
    self.storage = storage
    self.origin = origin
    self.services = services
  }

  /// Fetches page `page` (from 1) of the movies that match `query`, as `options` say.
  public func movies(_ query: MovieQuery, page: Int, options: FetchOptions) -> Snapshots<MoviesPage> {
    fetch(
      MoviesRequestDTO(origin: origin.name, query: query, page: page), storage: storage, origin: origin,
      services: services, options: options, mayKeep: { !$0.toDomain().isBeyondLast }
    ) { $0.toDomain() }
  }
}
