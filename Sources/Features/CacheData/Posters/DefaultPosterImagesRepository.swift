public import CacheDomain
public import CachedFetching
public import ResponseStorage
internal import StorageSPI

/// A request for a poster.
public struct PosterRequestDTO: CacheableRequest {
  /// The namespace of posters.
  public static let resource = "posters"

  /// The origin's name.
  public let origin: String
  /// Which poster to fetch, and how wide.
  public let query: PosterQuery

  /// Creates a request for `query` to the origin called `origin`.
  public init(origin: String, query: PosterQuery) {
    self.origin = origin
    self.query = query
  }

  /// The origin, the path and the width.
  public var parameters: [(name: String, value: String)] {
    [("origin", origin), ("path", query.path), ("width", String(query.width))]
  }
}

/// An origin of posters.
public protocol PosterOrigin: ResponseOrigin where Request == PosterRequestDTO, Response == Poster {}

/// Stores posters.
public protocol PosterResponseStorage: ResponseStore where Request == PosterRequestDTO, Response == Poster {}

/// Stores posters as entries of an engine.
public typealias EnginePosterResponseStorage = EngineResponseStorage<PosterRequestDTO, Poster>

extension EngineResponseStorage: PosterResponseStorage where Request == PosterRequestDTO, Response == Poster {
  /// Creates a storage over `store` whose payloads are the images' bytes, as they arrived.
  public init(store: EntryStore) {
    self.init(store: store, codec: .poster)
  }
}

extension PayloadCodec<Poster> {
  fileprivate static let poster = PayloadCodec(
    "poster", encode: { poster in (poster.bytes, poster.contentType) },
    decode: { bytes, _, metadata in
      Poster(bytes: bytes.withUnsafeBufferPointer { Array($0) }, contentType: metadata.contentType)
    })
}

/// Posters from a storage and an origin.
public struct DefaultPosterImagesRepository: PosterImagesRepository {
  private let storage: any PosterResponseStorage
  private let origin: any PosterOrigin
  private let services: FetchServices

  /// Creates a repository that fetches with `services`.
  public init(storage: any PosterResponseStorage, origin: any PosterOrigin, services: FetchServices) {
    self.storage = storage
    self.origin = origin
    self.services = services
  }

  /// Fetches the poster that `query` describes, as `options` say.
  public func poster(_ query: PosterQuery, options: FetchOptions) -> Snapshots<Poster> {
    fetch(
      PosterRequestDTO(origin: origin.name, query: query), storage: storage, origin: origin,
      services: services, options: options
    ) { $0 }
  }
}
