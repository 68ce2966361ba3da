internal import CacheDomain

/// A page of movies as TMDB's search answers it. Without results, a movie's identifier and one of its titles it is none;
/// any other key may be missing or null.
struct TMDBSearchDTO: Decodable, Sendable {
  private let results: [Result]
  private let totalPages: Count?
  private let totalResults: Count?

  private enum CodingKeys: String, CodingKey {
    case results
    case totalPages = "total_pages"
    case totalResults = "total_results"
  }

  /// Page `number`, from 1. Of the pages that the server counts no more are told of than can be asked for.
  func page(_ number: Int) -> MoviesPage {
    let known = results.isEmpty ? 0 : number
    return MoviesPage(
      page: number, totalPages: min(totalPages?.value ?? known, TMDBMovieOrigin.pages.upperBound),
      totalItems: totalResults?.value ?? results.count, movies: results.map(\.movie))
  }

  private struct Result: Decodable, Sendable {
    let movie: Movie

    private enum CodingKeys: String, CodingKey {
      case id, title, overview
      case originalTitle = "original_title"
      case releaseDate = "release_date"
      case posterPath = "poster_path"
      case genreIDs = "genre_ids"
    }

    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      let text: (CodingKeys) throws -> String? = { key in
        let text = try members.decodeIfPresent(String.self, forKey: key)
        return text?.isEmpty == true ? nil : text
      }
      let title = if let title = try text(.title) { title } else { try text(.originalTitle) }
      guard let title else {
        throw DecodingError.keyNotFound(
          CodingKeys.title, DecodingError.Context(codingPath: members.codingPath, debugDescription: "no title"))
      }
      movie = Movie(
        id: String(try members.decode(WholeNumber.self, forKey: .id).value), title: title,
        overview: try text(.overview),
        releaseDate: try text(.releaseDate), posterPath: try text(.posterPath),
        genres: TMDBGenre.names(
          of: try members.decodeIfPresent([WholeNumber].self, forKey: .genreIDs)?.map(\.value) ?? []))
    }
  }
}
