internal import Base
public import FetchVocabulary

/// Movies from The Movie Database API, version 3, or from a server that answers like it.
public struct TMDBMovieOrigin: MovieOrigin, HTTPOrigin {
  /// The address of the public server.
  public static var address: String { "https://api.themoviedb.org/" }

  /// The pages that can be requested, however many a search reports.
  public static var pages: ClosedRange<Int> { 1...500 }

  /// The server.
  public let server: OriginServer
  /// "tmdb" for the public server; for another one with its address, as in "tmdb@localhost:8080".
  public let name: String

  /// Creates the origin at `server`. `OriginCredentials.tmdb` makes the right credentials.
  public init(_ server: OriginServer) {
    self.server = server
    name = server.baseURL.originName("tmdb", known: Self.address)
  }

  /// The search for the page.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` for a page outside `pages`.
  public func endpoint(for request: MoviesRequestDTO) throws(CacheError) -> Endpoint {
    guard Self.pages.contains(request.page) else {
      throw CacheError(
        .invalidRequest, "there is no page \(request.page) of movies",
        hint: "ask for a page from \(Self.pages.lowerBound) to \(Self.pages.upperBound)")
    }
    return Endpoint(
      "page \(request.page) of movies", baseURL: server.baseURL, path: "/3/search/movie",
      query: [Endpoint.Parameter("query", request.query.text), Endpoint.Parameter("page", String(request.page))],
      fields: ["Accept": "application/json"])
  }

  /// Decodes the movies in `response`.
  ///
  /// - Throws: `CacheError` with the code `invalidAnswer`.
  public func decode(_ response: HTTPResponse, for request: MoviesRequestDTO) throws(CacheError) -> MoviesPageDTO {
    let search = try JSONAnswer.read(response, origin: name) { json throws(AnswerValue.Mistake) in
      try TMDBSearchDTO(json)
    }
    return MoviesPageDTO(search.page(request.page))
  }
}

extension OriginCredentials {
  /// The credentials for TMDB. An access token (version 4, a JSON Web Token as in RFC 7519) is sent as a bearer token;
  /// anything else is an API key (version 3) and becomes a parameter. Surrounding white space is dropped.
  public static func tmdb(_ text: String) -> OriginCredentials {
    let key = String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    guard !key.isEmpty else { return .none }
    return isWebToken(key) ? .bearerToken(key) : .queryParameter(name: "api_key", value: key)
  }

  /// Whether `key` has three parts separated by full stops, and begins like a JSON object in base64.
  private static func isWebToken(_ key: String) -> Bool {
    let parts = key.split(separator: ".", omittingEmptySubsequences: false)
    return key.hasPrefix("eyJ") && parts.count == 3
      && key.utf8.allSatisfy { PercentEncoding.isUnreserved($0) || $0 == UInt8(ascii: "=") }
  }
}
