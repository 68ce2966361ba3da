public import CacheDomain
public import CacheCore

/// A request for a page of cities.
public struct CitiesRequestDTO: CacheableRequest {
  /// The namespace of pages of cities.
  public static let resource = "cities"

  /// The origin's name.
  public let origin: String
  /// Which page to fetch.
  public let query: CitiesQuery

  /// Creates a request for `query` to the origin called `origin`.
  public init(origin: String, query: CitiesQuery) {
    self.origin = origin
    self.query = query
  }

  /// The order, the origin, the page and the direction.
  public var parameters: [(name: String, value: String)] {
    [
      ("order", query.order.rawValue), ("origin", origin), ("page", String(query.page)),
      ("sort", query.direction.rawValue),
    ]
  }
}

extension CitiesQuery {
  /// The query itself, once checked.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` for a page that no origin has.
  package func checked() throws(CacheError) -> CitiesQuery {
    guard page >= 0 else {
      throw CacheError(.invalidRequest, "there is no page \(page) of cities", hint: "pages of cities begin at 0")
    }
    return self
  }
}

/// An origin of pages of cities.
public protocol CityOrigin: ResponseOrigin where Request == CitiesRequestDTO, Response == CitiesPageDTO {}

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

/// Cities from a storage and an origin.
public struct DefaultCityRepository: CityRepository {
  private let storage: any CityResponseStorage
  private let origin: any CityOrigin
  private let services: FetchServices

  /// Creates a repository that fetches with `services`.
  public init(storage: any CityResponseStorage, origin: any CityOrigin, services: FetchServices) {
    self.storage = storage
    self.origin = origin
    self.services = services
  }

  /// Fetches the page of cities that `query` describes, as `options` say.
  public func cities(_ query: CitiesQuery, options: FetchOptions) -> Snapshots<CitiesPage> {
    fetch(
      CitiesRequestDTO(origin: origin.name, query: query), storage: storage, origin: origin,
      services: services, options: options, mayKeep: { !$0.toDomain().isBeyondLast }
    ) { $0.toDomain() }
  }
}
