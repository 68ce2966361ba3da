public import CacheDomain
public import CacheCore
internal import EngineAPI

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
    decode: { bytes, _, contentType in
      Poster(bytes: bytes.withUnsafeBufferPointer { Array($0) }, contentType: contentType)
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

/// Posters from The Movie Database's image server, or from one that responds like it. It needs no key.
public struct TMDBPosterOrigin: PosterOrigin, HTTPOrigin {
  /// The address of the public server.
  public static var address: String { "https://image.tmdb.org/" }

  /// The server.
  public let server: OriginServer
  /// "tmdb" for the public server; for another one with its address, as in "tmdb@localhost:8080".
  public let name: String

  /// Creates the origin at `server`.
  public init(_ server: OriginServer) {
    self.server = server
    name = server.baseURL.originName("tmdb", known: Self.address)
  }

  /// The image in the query's width, which is one that the server has.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` for a path that names no file, or leads out of the folder.
  public func endpoint(for request: PosterRequestDTO) throws(CacheError) -> Endpoint {
    let path = request.query.path
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    guard !parts.isEmpty, !parts.contains(where: { ["", ".", ".."].contains($0) }) else {
      throw CacheError(
        .invalidRequest, "'\(path)' is not the path of a poster",
        hint: "take the posterPath of a movie that 'fetch movies' finds")
    }
    return Endpoint(
      "poster '\(path)'", baseURL: server.baseURL, path: "/t/p/w\(request.query.width)\(path)",
      fields: ["Accept": "image/*"])
  }

  /// Returns the image in `response`.
  ///
  /// - Throws: `CacheError` with the code `invalidAnswer` if it is empty, or is not labelled as an image.
  public func decode(_ response: HTTP.Response, for request: PosterRequestDTO) throws(CacheError) -> Poster {
    if response.body.isEmpty { throw .invalidAnswer(name, "an empty response for an image") }
    if response.isHTML { throw .invalidAnswer(name, "a page of HTML instead of an image") }
    guard let type = response.head.fields.mediaType, type.hasPrefix("image/"), type != "image/" else {
      throw .invalidAnswer(name, "something else than an image for a poster")
    }
    return Poster(bytes: response.body, contentType: type)
  }
}
