internal import CacheDomain
public import CacheData

/// The bundled movies: 17,472 movies of the years 1940 to 2014, searched by the words of their titles.
///
/// Every word of the query must begin a word of the title; case, diacritics and punctuation do not matter. The best
/// come first: titles equal to the query, titles that begin with it, titles with its words as whole words, then the
/// others. Within each group higher box office comes first, then later movies.
public struct SampleMovieOrigin: MovieOrigin {
  /// The number of movies on a page; the last page has the rest.
  public static let pageSize = 20

  /// The pages that may be requested, as in the public API.
  public static let pages = 1...500

  /// The origin's name, "sample".
  public var name: String { SampleVersion.origin }

  /// True: the sample is part of the program.
  public var isInProcess: Bool { true }

  /// The origin. It has no state and costs nothing.
  public init() {}

  /// The page for `request`; beyond the last page an empty one with the totals.
  ///
  /// Searches all titles each time, which usually takes well under a millisecond, and does not suspend.
  ///
  /// - Throws: `CacheError`: `invalidRequest` for a page outside `pages`, `cancelled`.
  public func answer(
    to request: MoviesRequestDTO, conditions: HTTPFields
  ) async throws(CacheError) -> OriginAnswer<MoviesPageDTO> {
    guard Self.pages.contains(request.page) else {
      throw CacheError(
        .invalidRequest, "there is no page \(request.page) of movies",
        hint: "ask for a page from \(Self.pages.lowerBound) to \(Self.pages.upperBound)")
    }
    return try SampleAnswer.to(request, conditions) { () throws(CacheError) in
      MoviesPageDTO(page(request.page, of: try TitleSearch.offsets(request.query)))
    }
  }

  private func page(_ page: Int, of offsets: [Int]) -> MoviesPage {
    let movies = offsets.dropFirst((page - 1) * Self.pageSize).prefix(Self.pageSize)
      .compactMap { MovieTable.record(at: $0)?.movie }
    return MoviesPage(
      page: page, totalPages: (offsets.count + Self.pageSize - 1) / Self.pageSize, totalItems: offsets.count,
      movies: movies)
  }
}
