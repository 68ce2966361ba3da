public import CacheDomain
public import CacheCore
internal import EngineAPI

/// A page of movies as it is stored and transferred.
public struct MoviesPageDTO: Codable, Sendable, Hashable {
  /// A movie as it is stored and transferred.
  public struct MovieDTO: Codable, Sendable, Hashable {
    let id: String
    let title: String
    let overview: String?
    let releaseDate: String?
    let posterPath: String?
    let genres: [String]
  }

  let page: Int
  let totalPages: Int
  let totalItems: Int
  let items: [MovieDTO]
}

extension MoviesPageDTO {
  /// Creates the DTO of `page`.
  public init(_ page: MoviesPage) {
    let items = page.movies.map { movie in
      MovieDTO(
        id: movie.id, title: movie.title, overview: movie.overview, releaseDate: movie.releaseDate,
        posterPath: movie.posterPath, genres: movie.genres)
    }
    self.init(page: page.page, totalPages: page.totalPages, totalItems: page.totalItems, items: items)
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
    let page = try json.page { json throws(JSONReader.Failure) in try MovieDTO(json: &json) }
    self.init(page: page.page, totalPages: page.totalPages, totalItems: page.totalItems, items: page.items)
  }

  /// Writes the page, its members in the order of their names.
  public func write(to json: inout JSONWriter) {
    json.page(page, totalPages: totalPages, totalItems: totalItems, items) { json, movie in movie.write(to: &json) }
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
