/// A movie.
public struct Movie: Sendable, Hashable, Identifiable {
  /// The movie's identifier, unique within its origin.
  public let id: String
  /// The title.
  public let title: String
  /// A few sentences about it; `nil` where the origin has none.
  public let overview: String?
  /// The day of release as `YYYY-MM-DD`, or `YYYY` where only the year is known; `nil` where neither is.
  public let releaseDate: String?
  /// What to ask a poster by; `nil` where there is none.
  public let posterPath: String?
  /// The names of its genres.
  public let genres: [String]

  /// A movie with the given fields.
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
