internal import CacheBase
public import CacheDomain

/// Movies from The Movie Database API, version 3, or from a server that responds like it.
public struct TMDBMovieOrigin: MovieOrigin, HTTPOrigin {
  /// The address of the public server.
  public static var address: String { "https://api.themoviedb.org/" }

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
  /// - Throws: `CacheError` with the code `invalidRequest` for a page outside `MoviesRequestDTO.pages`.
  public func endpoint(for request: MoviesRequestDTO) throws(CacheError) -> Endpoint {
    try request.checkPage()
    return Endpoint(
      "page \(request.page) of movies", baseURL: server.baseURL, path: "/3/search/movie",
      query: ["query": request.query.text, "page": String(request.page)],
      fields: ["Accept": "application/json"])
  }

  /// Decodes the movies in `response`.
  ///
  /// - Throws: `CacheError` with the code `invalidAnswer`.
  public func decode(_ response: HTTP.Response, for request: MoviesRequestDTO) throws(CacheError) -> MoviesPageDTO {
    try MoviesPageDTO(AnswerValue(response, origin: name), page: request.page)
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

/// A page of movies, as TMDB's search returns it. It must have results, and a movie must have an identifier and a
/// title; any other key can be missing or null.
extension MoviesPageDTO {
  /// Page `number`, from 1. Of the server's page count it has no more than can be requested.
  fileprivate init(_ json: AnswerValue, page number: Int) throws(CacheError) {
    let movies = try json.member("results").elements.map { element throws(CacheError) in try MovieDTO(element) }
    let totalPages = try json.optionalMember("total_pages")?.count ?? (movies.isEmpty ? 0 : number)
    self.init(
      page: number, totalPages: min(totalPages, MoviesRequestDTO.pages.upperBound),
      totalItems: try json.optionalMember("total_results")?.count ?? movies.count, items: movies)
  }
}

extension MoviesPageDTO.MovieDTO {
  fileprivate init(_ json: AnswerValue) throws(CacheError) {
    func text(_ name: String) throws(CacheError) -> String? {
      let text = try json.optionalMember(name)?.text
      return text?.isEmpty == true ? nil : text
    }
    let original = if let title = try text("title") { title } else { try text("original_title") }
    guard let title = original else { throw json.missing("title") }
    let genres = try json.optionalMember("genre_ids")?.elements.map { element throws(CacheError) in
      try element.wholeNumber
    }
    self.init(
      id: String(try json.member("id").wholeNumber), title: title, overview: try text("overview"),
      releaseDate: try text("release_date"), posterPath: try text("poster_path"),
      genres: TMDBGenre.names(of: genres ?? []))
  }
}

/// The genres of TMDB's movies, which search results give only as numbers.
///
/// They come from its resource `genre/movie/list` in English, which has not changed for years. Asking for it would cost
/// another request before each first search.
enum TMDBGenre {
  private static let names = [
    28: "Action", 12: "Adventure", 16: "Animation", 35: "Comedy", 80: "Crime", 99: "Documentary", 18: "Drama",
    10751: "Family", 14: "Fantasy", 36: "History", 27: "Horror", 10402: "Music", 9648: "Mystery", 10749: "Romance",
    878: "Science Fiction", 10770: "TV Movie", 53: "Thriller", 10752: "War", 37: "Western",
  ]

  /// The names of the genres `identifiers`, in order. Skips unknown numbers.
  static func names(of identifiers: [Int]) -> [String] { identifiers.compactMap { names[$0] } }
}
