internal import CacheDomain

/// A page of movies, as TMDB's search returns it. It must have results, and a movie must have an identifier and a
/// title; any other key may be missing or null.
struct TMDBSearchDTO: Sendable {
  private let movies: [Movie]
  private let totalPages: Int?
  private let totalResults: Int?

  init(_ json: AnswerValue) throws(AnswerValue.Mistake) {
    movies = try json.member("results").elements.map { element throws(AnswerValue.Mistake) in try Movie(element) }
    totalPages = try json.optionalMember("total_pages")?.count
    totalResults = try json.optionalMember("total_results")?.count
  }

  /// Page `number`, from 1. Of the server's page count it reports no more than can be requested.
  func page(_ number: Int) -> MoviesPage {
    let known = movies.isEmpty ? 0 : number
    return MoviesPage(
      page: number, totalPages: min(totalPages ?? known, TMDBMovieOrigin.pages.upperBound),
      totalItems: totalResults ?? movies.count, movies: movies)
  }
}

extension Movie {
  fileprivate init(_ json: AnswerValue) throws(AnswerValue.Mistake) {
    func text(_ name: String) throws(AnswerValue.Mistake) -> String? {
      let text = try json.optionalMember(name)?.text
      return text?.isEmpty == true ? nil : text
    }
    let original = if let title = try text("title") { title } else { try text("original_title") }
    guard let title = original else { throw json.missing("title") }
    let genres = try json.optionalMember("genre_ids")?.elements.map { element throws(AnswerValue.Mistake) in
      try element.wholeNumber
    }
    self.init(
      id: String(try json.member("id").wholeNumber), title: title, overview: try text("overview"),
      releaseDate: try text("release_date"), posterPath: try text("poster_path"),
      genres: TMDBGenre.names(of: genres ?? []))
  }
}
