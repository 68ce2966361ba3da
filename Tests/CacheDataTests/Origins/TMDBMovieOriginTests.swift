import CacheData
import CacheDomain
import Testing

/// The quirks of TMDB's search, each in an answer of its own.
struct TMDBMovieOriginTests {
  private func answer(_ transfer: FakeTransfer, page: Int = 1) async throws -> MoviesPage? {
    let origin = TMDBMovieOrigin(try server("https://a.example", transfer))
    return try await origin.answer(to: try Asked.movies(page: page), conditions: [:]).response?.toDomain()
  }

  private func movie(_ body: String) async throws -> Movie? {
    let page = try await answer(.json(#"{"page": 1, "results": [\#(body)], "total_pages": 1, "total_results": 1}"#))
    return page?.movies.first
  }

  private static let whole = #"""
    {"page": 2, "results": [
      {"adult": false, "backdrop_path": null, "genre_ids": [18, 878, 1, 53], "id": 42, "original_language": "fr",
       "original_title": "Le Fil", "overview": "A wire.\nAnd more.", "popularity": 3.25, "poster_path": "/p.jpg",
       "release_date": "2001-04-25", "title": "The Wire", "video": false, "vote_average": 7, "vote_count": 12},
      {"adult": false, "backdrop_path": "/b.jpg", "genre_ids": [], "id": 43, "original_language": "en",
       "original_title": "Wired", "overview": "", "popularity": 0, "poster_path": null, "release_date": "",
       "title": "Wired", "video": false, "vote_average": 0.0, "vote_count": 0}],
     "total_pages": 31, "total_results": 612}
    """#

  @Test func aPageIsRead() async throws {
    let expected = MoviesPage(
      page: 2, totalPages: 31, totalItems: 612,
      movies: [
        Movie(
          id: "42", title: "The Wire", overview: "A wire.\nAnd more.", releaseDate: "2001-04-25", posterPath: "/p.jpg",
          genres: ["Drama", "Science Fiction", "Thriller"]),
        Movie(id: "43", title: "Wired", overview: nil, releaseDate: nil, posterPath: nil, genres: []),
      ])
    #expect(try await answer(.json(Self.whole), page: 2) == expected)
  }

  @Test(arguments: [
    (
      #"{"id": 7, "title": "A"}"#,
      Movie(id: "7", title: "A", overview: nil, releaseDate: nil, posterPath: nil, genres: [])
    ),
    (
      #"{"id": 7, "title": null, "original_title": "B", "overview": null, "release_date": null, "genre_ids": null}"#,
      Movie(id: "7", title: "B", overview: nil, releaseDate: nil, posterPath: nil, genres: [])
    ),
    (
      #"{"id": 7, "title": "", "original_title": "B", "poster_path": "", "genre_ids": [99999, 28]}"#,
      Movie(id: "7", title: "B", overview: nil, releaseDate: nil, posterPath: nil, genres: ["Action"])
    ),
  ])
  func keysMayBeMissingNullOrEmpty(body: String, expected: Movie) async throws {
    #expect(try await movie(body) == expected)
  }

  @Test(arguments: [
    (#""total_pages": 500, "total_results": 10000"#, 500, 10_000),
    (#""total_pages": 501, "total_results": 10001"#, 500, 10_001),
    (#""total_pages": 38029, "total_results": 760576"#, 500, 760_576),
    (#""total_pages": 0, "total_results": 0"#, 0, 0), (#""page": 1"#, 0, 0),
    (#""total_pages": null, "total_results": null"#, 0, 0),
  ])
  func noMorePagesAreReportedThanCanBeAskedFor(rest: String, totalPages: Int, totalItems: Int) async throws {
    let page = try await answer(.json(#"{"results": [], \#(rest)}"#))
    #expect(page?.totalPages == totalPages)
    #expect(page?.totalItems == totalItems)
  }

  @Test(arguments: [
    ("{}", "'results' is missing"), (#"{"results": null}"#, "'results' is null"),
    (#"{"results": "none"}"#, "'results' is not a list"),
    (#"{"results": [{"title": "A"}]}"#, "'results[0].id' is missing"),
    (#"{"results": [{"id": "7", "title": "A"}]}"#, "'results[0].id' is not a whole number"),
    (#"{"results": [{"id": 7.5, "title": "A"}]}"#, "'results[0].id' is not a whole number, or is too large"),
    (#"{"results": [{"id": 7}]}"#, "'results[0].title' is missing"),
    (#"{"results": [{"id": 7, "title": 8}]}"#, "'results[0].title' is not a text"),
    (
      #"{"results": [{"id": 7, "title": "A", "genre_ids": ["Drama"]}]}"#,
      "'results[0].genre_ids[0]' is not a whole number"
    ),
    (#"{"results": [], "total_pages": -3}"#, "'total_pages' is negative"),
    (#"{"success": false, "status_message": "no"}"#, "'results' is missing"), ("not JSON", "it is not valid JSON"),
  ])
  func whatIsNotUnderstoodIsSaid(body: String, reason: String) async throws {
    let error = await #expect(throws: CacheError.self) { _ = try await answer(.json(body)) }
    #expect(error?.code == .invalidAnswer)
    #expect(error?.message == "tmdb@a.example sent an answer that is not understood: \(reason)")
  }

  /// The failures that TMDB documents, with and without `success`.
  @Test(
    arguments: [
      (401, 7, CacheError.Code.originRefused), (401, 10, .originRefused), (404, 6, .notFound), (404, 34, .notFound),
      (422, 5, .invalidRequest), (400, 22, .invalidRequest), (429, 25, .originUnreachable),
      (500, 11, .originUnreachable), (503, 9, .originUnreachable), (504, 24, .originUnreachable),
    ], [#""success": false, "#, ""])
  func failuresAreQuoted(failure: (status: Int, number: Int, code: CacheError.Code), success: String) async throws {
    let body = #"{\#(success)"status_code": \#(failure.number), "status_message": "Reason \#(failure.number)."}"#
    let error = await #expect(throws: CacheError.self) { _ = try await answer(.json(body, status: failure.status)) }
    #expect(error?.code == failure.code)
    #expect(error?.message.hasPrefix("tmdb@a.example ") == true)
    #expect(error?.message.hasSuffix(" (\(failure.status)): Reason \(failure.number)") == true)
  }
}
