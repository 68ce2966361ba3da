/// A movie.
public struct Movie: Sendable, Hashable, Identifiable {
  /// The movie's identifier, unique within its origin.
  public let id: String
  /// The title.
  public let title: String
  /// A few sentences about the movie; `nil` if the origin has none.
  public let overview: String?
  /// The day of release as `YYYY-MM-DD`, or `YYYY` if only the year is known; `nil` if neither is.
  public let releaseDate: String?
  /// The path with which to fetch the poster; `nil` if there is none.
  public let posterPath: String?
  /// The names of its genres.
  public let genres: [String]

  /// Creates a movie.
  public init(
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
