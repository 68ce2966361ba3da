public import CacheDomain

/// Posters from The Movie Database's image server, or from one that answers like it. It needs no key.
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
        .invalidRequest, "'\(path)' is no path of a poster",
        hint: "take the posterPath of a movie that 'fetch movies' finds")
    }
    return Endpoint(
      "poster '\(path)'", baseURL: server.baseURL, path: "/t/p/w\(request.query.width)\(path)",
      fields: ["Accept": "image/*"])
  }

  /// Returns the image in `response`.
  ///
  /// - Throws: `CacheError` with the code `invalidAnswer` if it is empty, or is not labelled as an image.
  public func decode(_ response: HTTPResponse, for request: PosterRequestDTO) throws(CacheError) -> Poster {
    if response.body.isEmpty { throw .invalidAnswer(name, "an empty answer for an image") }
    if HTMLPage.isIn(response) { throw .invalidAnswer(name, "a page of HTML instead of an image") }
    guard let type = response.mediaType, type.hasPrefix("image/"), type != "image/" else {
      throw .invalidAnswer(name, "something else than an image for a poster")
    }
    return Poster(bytes: response.body, contentType: type)
  }
}
