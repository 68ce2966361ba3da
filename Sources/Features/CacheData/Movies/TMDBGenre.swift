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
