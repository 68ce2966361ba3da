public import CacheDomain
public import CacheCore
internal import EngineAPI

/// A page of movies as it is stored and transferred.
public struct MoviesPageDTO: Codable, Sendable, Hashable {
  /// A movie as it is stored and transferred.
  public struct MovieDTO: Codable, Sendable, Hashable {
    package let id: String
    package let title: String
    package let overview: String?
    package let releaseDate: String?
    package let posterPath: String?
    package let genres: [String]

    /// Creates the DTO of a movie.
    package init(
      id: String, title: String, overview: String?, releaseDate: String?, posterPath: String?, genres: [String]
    ) {
      self.id = id
      self.title = title
      self.overview = overview
      self.releaseDate = releaseDate
      self.posterPath = posterPath
      self.genres = genres
    }
  }

  package let page: Int
  package let totalPages: Int
  package let totalItems: Int
  package let items: [MovieDTO]

  /// Creates the DTO of a page from its fields.
  package init(page: Int, totalPages: Int, totalItems: Int, items: [MovieDTO]) {
    (self.page, self.totalPages, self.totalItems, self.items) = (page, totalPages, totalItems, items)
  }

  /// Creates the DTO of `page`.
  public init(_ page: MoviesPage) {
    self.page = page.page
    self.totalPages = page.totalPages
    self.totalItems = page.totalItems
    self.items = page.movies.map { movie in
      MovieDTO(
        id: movie.id, title: movie.title, overview: movie.overview, releaseDate: movie.releaseDate,
        posterPath: movie.posterPath, genres: movie.genres)
    }
  }

  /// The page as the domain represents it.
  public func toDomain() -> MoviesPage {
    MoviesPage(
      page: page, totalPages: totalPages, totalItems: totalItems,
      movies: items.map { movie in
        Movie(
          id: movie.id, title: movie.title, overview: movie.overview, releaseDate: movie.releaseDate,
          posterPath: movie.posterPath, genres: movie.genres)
      })
  }
}

extension MoviesPageDTO: JSONPayload {
  /// Reads a page of movies as `write` has written it.
  ///
  /// - Throws: `JSONReader.Failure` if the document has another shape.
  public init(json: inout JSONReader) throws(JSONReader.Failure) {
    let frame = try PageFrame(json: &json) { json throws(JSONReader.Failure) in try MovieDTO(json: &json) }
    self.init(page: frame.page, totalPages: frame.totalPages, totalItems: frame.totalItems, items: frame.items)
  }

  /// Writes the page, its members in the order of their names.
  public func write(to json: inout JSONWriter) {
    let frame = PageFrame(page: page, totalPages: totalPages, totalItems: totalItems, items: items)
    frame.write(to: &json) { json, movie in movie.write(to: &json) }
  }
}

extension MoviesPageDTO.MovieDTO {
  /// The members, in the order in which they are written.
  private enum Member: Int {
    case genres, id, overview, posterPath, releaseDate, title
  }

  private static let names = JSONNames(["genres", "id", "overview", "posterPath", "releaseDate", "title"])

  fileprivate init(json: inout JSONReader) throws(JSONReader.Failure) {
    var (id, title, genres) = (String?.none, String?.none, [String]?.none)
    var (overview, posterPath, releaseDate) = (String?.none, String?.none, String?.none)
    try json.object(Self.names) { json, member throws(JSONReader.Failure) in
      switch Member(rawValue: member) {
      case .genres: genres = try json.array { json throws(JSONReader.Failure) in try json.string() }
      case .id: id = try json.optionalString()
      case .overview: overview = try json.optionalString()
      case .posterPath: posterPath = try json.optionalString()
      case .releaseDate: releaseDate = try json.optionalString()
      case .title: title = try json.optionalString()
      case nil: try json.skipValue()
      }
    }
    self.init(
      id: try json.required(id, "id"), title: try json.required(title, "title"), overview: overview,
      releaseDate: releaseDate, posterPath: posterPath, genres: try json.required(genres, "genres"))
  }

  fileprivate func write(to json: inout JSONWriter) {
    json.object { json in
      json.name("genres")
      json.array(genres) { json, genre in json.text(genre) }
      json.member("id", id)
      json.member("overview", overview)
      json.member("posterPath", posterPath)
      json.member("releaseDate", releaseDate)
      json.member("title", title)
    }
  }
}

/// Encodes and decodes pages of movies as the cache does, to measure the cost.
public struct MoviesPageCoding: Sendable {
  private let codec = PayloadCodec<MoviesPageDTO>.json
  private let key: CacheKey

  /// Creates the coding.
  ///
  /// - Throws: `CacheError` if no key can be made for movies.
  public init() throws(CacheError) {
    key = try CacheKey("\(MoviesRequestDTO.resource)/page")
  }

  /// Makes the payload that `EngineMoviesResponseStorage` stores for `page`.
  ///
  /// - Throws: `CacheError` with the code `invalidAnswer` if the page cannot be encoded.
  public func encode(_ page: MoviesPageDTO) throws(CacheError) -> [UInt8] { try codec.encode(page).payload }

  /// Decodes the page in `payload`, as a hit does.
  ///
  /// - Throws: `CacheError` with the code `damaged` if `payload` is not such a page.
  public func decode(_ payload: Span<UInt8>) throws(CacheError) -> MoviesPageDTO {
    try codec.decode(payload, key, "application/json")
  }
}
