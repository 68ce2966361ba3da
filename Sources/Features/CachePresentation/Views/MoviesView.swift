public import CacheDomain

/// A fetched page of movies.
public typealias MoviesView = PageView<MoviesPage>

extension MoviesPage: PresentablePage {
  /// The resource's name.
  public static var resource: String { "movies" }
  /// The singular and the plural of "movie".
  public static var nouns: (singular: String, plural: String) { ("movie", "movies") }
  /// Pages of movies begin at 1.
  public static var firstPage: Int { 1 }
  /// The names of the members of a movie.
  public static var itemColumns: [String] { ["id", "title", "overview", "releaseDate", "posterPath", "genres"] }

  /// The number of movies on the page.
  public var itemCount: Int { movies.count }

  /// The documents of the movies.
  public var items: [JSONValue] {
    movies.map { movie in
      [
        "id": .string(movie.id), "title": .string(movie.title), "overview": JSONValue(movie.overview),
        "releaseDate": JSONValue(movie.releaseDate), "posterPath": JSONValue(movie.posterPath),
        "genres": JSONValue(movie.genres),
      ]
    }
  }

  /// The movies by title, year and genres; overviews are too long for a table.
  public func table(first count: Int) -> Table {
    let columns: [Table.Column] = [
      .init("ID", .right, priority: -1), .init("Title", isShrinkable: true), .init("Year"),
      .init("Genres", priority: -1, isShrinkable: true, minimum: 12),
    ]
    return Table(columns, rows: movies.prefix(count).map(Self.row))
  }

  private static func row(_ movie: Movie) -> [Table.Cell] {
    [
      .init(movie.id, .dim), .init(movie.title, .plain), .init(movie.releaseDate.map { String($0.prefix(4)) }),
      .init(movie.genres.isEmpty ? nil : movie.genres.joined(separator: ", ")),
    ]
  }
}
