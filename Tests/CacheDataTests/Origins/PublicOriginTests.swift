import CacheData
import CacheDomain
import FetchVocabulary
import Testing

/// The quirks of ProPublica's search, each in a separate response.
struct ProPublicaCityOriginTests {
  private func page(_ transfer: FakeTransfer, page: Int = 0) async throws -> CitiesPage? {
    let origin = ProPublicaCityOrigin(try server("https://a.example", transfer))
    return try await origin.answer(to: Asked.cities(CitiesQuery(page: page)), conditions: [:]).response?.toDomain()
  }

  private func page(_ body: String, page: Int = 0) async throws -> CitiesPage? {
    try await self.page(.json(body), page: page)
  }

  private static func search(_ organizations: String, _ rest: String = #""total_results": 60, "num_pages": 3"#)
    -> String
  { #"{\#(rest), "organizations": [\#(organizations)]}"# }

  private static func organization(_ city: String, _ state: String) -> String {
    #"{"ein": 12345678, "name": "A fund", "city": \#(city), "state": \#(state), "score": 1}"#
  }

  /// A complete page as the server sends it: every key, and every kind of value that occurs.
  private static let whole = #"""
    {"total_results": 56, "organizations": [
      {"ein": 1234567, "strein": "00-1234567", "name": "Friends of the Pier", "sub_name": "Friends of the Pier",
       "city": "Portland", "state": "OR", "ntee_code": "A20", "raw_ntee_code": "A20", "subseccd": 3,
       "has_subseccd": true, "have_filings": null, "have_extracts": null, "have_pdfs": null, "score": 812.0361},
      {"ein": 461111111, "strein": "46-1111111", "name": "Rowing Club", "sub_name": null, "city": "Salem",
       "state": "Oregon", "ntee_code": null, "raw_ntee_code": null, "subseccd": null, "has_subseccd": false,
       "have_filings": true, "have_extracts": true, "have_pdfs": true, "score": 7},
      {"city": "Portland", "state": "ME"}, {"city": "Paris", "state": "ZZ", "ein": null},
      {"city": "Portland", "state": "OR", "have_pdfs": false}, {"city": "Atlantis", "state": null},
      {"name": "Nowhere", "city": null, "state": null}, {}],
     "num_pages": 3, "cur_page": 1, "page_offset": 25, "per_page": 25, "search_query": null, "selected_state": null,
     "selected_ntee": null, "selected_code": null, "data_source": "IRS", "api_version": 2}
    """#

  @Test func organizationsAreGroupedByCityAndStateInTheirOrder() async throws {
    let page = try #require(try await page(Self.whole, page: 1))
    #expect(page.page == 1)
    #expect(page.totalPages == 3)
    #expect(page.totalItems == 56)
    let expected: [(String, String, String?, Int)] = [
      ("OR/Portland", "Portland", "OR", 2), ("Oregon/Salem", "Salem", "Oregon", 1),
      ("ME/Portland", "Portland", "ME", 1), ("ZZ/Paris", "Paris", "ZZ", 1), ("/Atlantis", "Atlantis", nil, 1),
    ]
    #expect(page.cities == expected.map { City(id: $0, name: $1, subName: $2, revenue: nil, organizationCount: $3) })
  }

  @Test(
    arguments: [
      (#""Boise""#, #""ID""#, "ID/Boise", "ID"), (#"" Boise  City ""#, #"" ID""#, "ID/Boise City", "ID"),
      (#""Boise""#, "null", "/Boise", nil), (#""Boise""#, #""""#, "/Boise", nil),
      (#""Boise""#, #""  ""#, "/Boise", nil),
      ("null", #""ID""#, nil, nil), (#""""#, #""ID""#, nil, nil), (#""São João""#, #""ZZ""#, "ZZ/São João", "ZZ"),
    ] as [(String, String, String?, String?)])
  func citiesAndStatesMayBeOdd(city: String, state: String, id: String?, subName: String?) async throws {
    let page = try await page(Self.search(Self.organization(city, state)))
    #expect(page?.cities.map(\.id) == (id.map { [$0] } ?? []))
    #expect(page?.cities.map(\.subName) == (id == nil ? [] : [subName]))
    #expect(page?.totalItems == 60)
  }

  @Test(arguments: [
    (#""total_results": 60, "num_pages": 3, "per_page": 25"#, 3, 60),
    (#""total_results": 60, "num_pages": null, "per_page": 25"#, 3, 60),
    (#""total_results": 60, "per_page": 100"#, 1, 60), (#""total_results": 101, "per_page": 100"#, 2, 101),
    (#""total_results": 60, "per_page": 0"#, 60, 60), (#""total_results": 60"#, 60, 60),
    (#""total_results": null, "page_offset": 50, "per_page": 25"#, 3, 51), (#""api_version": 2"#, 1, 1),
    (#""total_results": 9223372036854775807, "per_page": 1"#, Int.max, Int.max),
    (#""page_offset": 9223372036854775807, "per_page": 25"#, 368_934_881_474_191_033, Int.max),
  ])
  func theSizeOfPagesIsReadAndNotAssumed(rest: String, totalPages: Int, totalItems: Int) async throws {
    let page = try await page(Self.search(Self.organization(#""Boise""#, #""ID""#), rest))
    #expect(page?.totalPages == totalPages)
    #expect(page?.totalItems == totalItems)
  }

  @Test(
    arguments: [
      #"{"total_results": 0, "organizations": [], "num_pages": 0, "cur_page": 0, "page_offset": 0, "per_page": 25}"#,
      #"{"total_results": 0, "organizations": null}"#, #"{"total_results": 0}"#,
    ], [200, 404])
  func anEmptyResultIsAValidResponse(body: String, status: Int) async throws {
    let page = try await page(.json(body, status: status))
    #expect(page == CitiesPage(page: 0, totalPages: 0, totalItems: 0, cities: []))
  }

  @Test func anEmptyResultHasTheHeadOfThe404() async throws {
    let transfer = FakeTransfer(404, ["Cache-Control": "public, max-age=86400"], #"{"total_results": 0}"#)
    let origin = ProPublicaCityOrigin(try server("https://a.example", transfer))
    let answer = try await origin.answer(to: Asked.cities(), conditions: [:])
    #expect(answer.head.status == 404)
    #expect(answer.head.fields["cache-control"] == "public, max-age=86400")
    #expect(answer.response != nil)
  }

  @Test(arguments: [
    "", "<html><body>Not found</body></html>", "{}", "[]", #"{"error": "no such page"}"#, #"{"organizations": []}"#,
    #"{"total_results": 3, "organizations": []}"#, #"{"total_results": 0"#,
  ])
  func anyOther404IsNone(body: String) async throws {
    let error = await failure(of: FakeTransfer(404, [:], body))
    #expect(error?.code == .notFound)
    #expect(error?.message.hasPrefix("propublica@a.example has no page 0 of cities (404)") == true)
  }

  @Test(arguments: [500, 502, 503]) func pagesOfHTMLOnFailureAreNotQuoted(status: Int) async throws {
    let error = await failure(of: FakeTransfer(status, ["Content-Type": "text/html"], "<html><h1>Oops</h1></html>"))
    #expect(error?.code == .originUnreachable)
    #expect(error?.message == "propublica@a.example failed to serve page 0 of cities (\(status))")
  }

  @Test(arguments: [
    ("", "an empty response"), ("  <!doctype HTML><p>Sign in", "a page of HTML instead of JSON"),
    ("{", "a response that is not understood: it is not valid JSON"),
    ("[]", "a response that is not understood: the document is not an object"),
    ("{}", "a response that is not understood: 'organizations' is missing"),
    (#"{"total_results": 1, "organizations": null}"#, "a response that is not understood: 'organizations' is null"),
    (#"{"organizations": {}}"#, "a response that is not understood: 'organizations' is not a list"),
    (#"{"organizations": [1]}"#, "a response that is not understood: 'organizations[0]' is not an object"),
    (
      #"{"organizations": [{}, {"city": 7}]}"#,
      "a response that is not understood: 'organizations[1].city' is not a text"
    ),
    (#"{"organizations": [], "total_results": -1}"#, "a response that is not understood: 'total_results' is negative"),
    (
      #"{"organizations": [], "num_pages": "3"}"#,
      "a response that is not understood: 'num_pages' is not a whole number"
    ),
  ])
  func malformedInputIsReported(body: String, reason: String) async throws {
    let error = await failure(of: FakeTransfer(200, ["Content-Type": "application/json"], body))
    #expect(error?.code == .invalidAnswer)
    #expect(error?.message == "propublica@a.example sent \(reason)")
  }

  @Test(arguments: [1, 1e30, 0.5]) func countsThatAreNotIntegersAreInvalid(excess: Double) async throws {
    let error = await failure(of: .json(#"{"organizations": [], "total_results": \#(excess + 0.25)}"#))
    #expect(error?.code == .invalidAnswer)
  }

  @Test func nestingWithoutEndIsNotUnderstood() async throws {
    let error = await failure(of: .json(String(repeating: #"{"organizations":["#, count: 20_000)))
    #expect(error?.code == .invalidAnswer)
  }

  @Test func aMarkOfTheByteOrderIsSkipped() async throws {
    #expect(try await page("\u{FEFF}" + #"{"total_results": 0}"#)?.cities.isEmpty == true)
  }

  private func failure(of transfer: FakeTransfer) async -> CacheError? {
    do {
      _ = try await page(transfer)
      return nil
    } catch { return error as? CacheError }
  }
}

/// The quirks of TMDB's search, each in a separate response.
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
    (#""total_pages": 38029, "total_results": 760576"#, 500, 760_576), (#""total_pages": 0, "total_results": 0"#, 0, 0),
    (#""page": 1"#, 0, 0), (#""total_pages": null, "total_results": null"#, 0, 0),
  ])
  func noMorePagesAreReportedThanCanBeRequested(rest: String, totalPages: Int, totalItems: Int) async throws {
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
    ), (#"{"results": [], "total_pages": -3}"#, "'total_pages' is negative"),
    (#"{"success": false, "status_message": "no"}"#, "'results' is missing"), ("not JSON", "it is not valid JSON"),
  ])
  func malformedInputIsReported(body: String, reason: String) async throws {
    let error = await #expect(throws: CacheError.self) { _ = try await answer(.json(body)) }
    #expect(error?.code == .invalidAnswer)
    #expect(error?.message == "tmdb@a.example sent a response that is not understood: \(reason)")
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

struct TMDBPosterOriginTests {
  private func answer(_ transfer: FakeTransfer) async throws -> Poster? {
    let origin = TMDBPosterOrigin(try server("https://a.example", transfer))
    return try await origin.answer(to: Asked.poster(), conditions: [:]).response
  }

  @Test(arguments: [
    ("image/jpeg", "image/jpeg"), ("IMAGE/PNG", "image/png"), ("image/webp; q=1", "image/webp"),
    (" image/svg+xml ;charset=utf-8", "image/svg+xml"),
  ])
  func anImageIsNotChanged(type: String, expected: String) async throws {
    let bytes = Array(UInt8.min...UInt8.max)
    let response = HTTP.Response(HTTP.ResponseHead(status: 200, fields: ["content-type": type]), body: bytes)
    #expect(try await answer(FakeTransfer(response)) == Poster(bytes: bytes, contentType: expected))
  }

  @Test(
    arguments: [
      ("image/jpeg", "", "an empty response for an image"),
      ("text/html; charset=utf-8", "<p>Hello", "a page of HTML instead of an image"),
      ("image/jpeg", "\n<!DOCTYPE html><html></html>", "a page of HTML instead of an image"),
      ("application/json", "{}", "something else than an image for a poster"),
      (nil, "\u{89}PNG", "something else than an image for a poster"),
      ("image/", "x", "something else than an image for a poster"),
      ("text/plain, image/png", "x", "something else than an image for a poster"),
    ] as [(String?, String, String)])
  func anythingElseIsNotAnImage(type: String?, body: String, reason: String) async throws {
    let fields = HTTP.Fields(type.map { [HTTP.Fields.Field("Content-Type", $0)] } ?? [])
    let error = await #expect(throws: CacheError.self) { _ = try await answer(FakeTransfer(200, fields, body)) }
    #expect(error?.code == .invalidAnswer)
    #expect(error?.message == "tmdb@a.example sent \(reason)")
  }

  @Test(arguments: [(404, CacheError.Code.notFound), (403, .originRefused), (503, .originUnreachable)])
  func aFailureNamesThePoster(status: Int, code: CacheError.Code) async throws {
    let transfer = FakeTransfer(status, ["Content-Type": "text/html"], "<h1>File not Found</h1>")
    let error = await #expect(throws: CacheError.self) { _ = try await answer(transfer) }
    #expect(error?.code == code)
    #expect(error?.message.contains("poster '/a.jpg' (\(status))") == true)
  }
}

/// The package's own protocol: the tool can read its own output.
struct HTTPCityOriginTests {
  private func answer(_ body: String, page: Int = 0) async throws -> CitiesPage? {
    let origin = HTTPCityOrigin(try server("https://a.example/cities", .json(body)))
    return try await origin.answer(to: Asked.cities(CitiesQuery(page: page)), conditions: [:]).response?.toDomain()
  }

  private static let printed = #"""
    {"resource": "cities", "source": "cache", "revalidated": false, "stale": false, "backend": "lmdb", "key": "k",
     "storedAt": "2024-01-01T00:00:00Z", "freshUntil": "2024-01-01T01:00:00Z", "page": 2, "totalPages": 243,
     "totalItems": 6057, "items": [
       {"id": "KY/LOUISVILLE", "name": "LOUISVILLE", "subName": "KY", "revenue": 12000000000, "organizationCount": 3},
       {"id": "x", "name": "São Paulo", "subName": null, "revenue": null, "organizationCount": null},
       {"id": "y", "name": "", "more": {"a": [1]}, "revenue": -1}]}
    """#

  @Test func thePrintedDocumentIsRead() async throws {
    let expected = CitiesPage(
      page: 2, totalPages: 243, totalItems: 6_057,
      cities: [
        City(id: "KY/LOUISVILLE", name: "LOUISVILLE", subName: "KY", revenue: 12_000_000_000, organizationCount: 3),
        City(id: "x", name: "São Paulo", subName: nil, revenue: nil, organizationCount: nil),
        City(id: "y", name: "", subName: nil, revenue: -1, organizationCount: nil),
      ])
    #expect(try await answer(Self.printed, page: 2) == expected)
  }

  @Test func noMoreThanThePageIsNeeded() async throws {
    let page = try await answer(#"{"page": 0, "totalPages": 0, "totalItems": 0, "items": []}"#)
    #expect(page == CitiesPage(page: 0, totalPages: 0, totalItems: 0, cities: []))
  }

  private static let notUnderstood = "http@a.example/cities sent a response that is not understood: "

  @Test(arguments: [
    (#"{"totalPages": 0, "totalItems": 0, "items": []}"#, notUnderstood + "'page' is missing"),
    (#"{"page": 0, "totalItems": 0, "items": []}"#, notUnderstood + "'totalPages' is missing"),
    (#"{"page": 0, "totalPages": 0, "totalItems": 0}"#, notUnderstood + "'items' is missing"),
    (#"{"page": 0, "totalPages": 0, "totalItems": 0, "items": null}"#, notUnderstood + "'items' is null"),
    (#"{"page": 0, "totalPages": -1, "totalItems": 0, "items": []}"#, notUnderstood + "'totalPages' is negative"),
    (
      #"{"resource": "movies", "page": 0, "totalPages": 1, "totalItems": 0, "items": []}"#,
      notUnderstood + "'resource' is not 'cities'"
    ),
    (
      #"{"page": 0, "totalPages": 1, "totalItems": 1, "items": [{"id": 1, "name": "a"}]}"#,
      notUnderstood + "'items[0].id' is not a text"
    ),
    (
      #"{"page": 0, "totalPages": 1, "totalItems": 1, "items": [{"id": "1"}]}"#,
      notUnderstood + "'items[0].name' is missing"
    ),
    (
      #"{"page": 0, "totalPages": 1, "totalItems": 1, "items": [{"id": "1", "name": "a", "revenue": "12"}]}"#,
      notUnderstood + "'items[0].revenue' is not a whole number"
    ),
    (
      #"{"page": 0, "totalPages": 1, "totalItems": 1, "items": [{"id": "1", "name": "a", "revenue": 1.5}]}"#,
      notUnderstood + "'items[0].revenue' is not a whole number, or is too large"
    ),
    (
      #"{"page": 0, "totalPages": 1, "totalItems": 1, "items": [{"id": "1", "name": "a", "revenue": 1e300}]}"#,
      notUnderstood + "'items[0].revenue' is not a whole number, or is too large"
    ),
    (
      #"{"page": 0.5, "totalPages": 1, "totalItems": 0, "items": []}"#,
      notUnderstood + "'page' is not a whole number, or is too large"
    ),
    (
      #"{"page": 0, "totalPages": 1, "totalItems": 1e30, "items": []}"#,
      notUnderstood + "'totalItems' is not a whole number, or is too large"
    ), (#"{"page": 0, "totalPages": 1, "totalItems": 0, "items": {}}"#, notUnderstood + "'items' is not a list"),
    ("[]", notUnderstood + "the document is not an object"),
    (
      #"{"page": 1, "totalPages": 2, "totalItems": 0, "items": []}"#,
      "http@a.example/cities sent page 1 of cities for page 0"
    ), ("null", notUnderstood + "the document is null"), ("{} {}", notUnderstood + "it is not valid JSON"),
  ])
  func malformedInputIsReported(body: String, message: String) async throws {
    let error = await #expect(throws: CacheError.self) { _ = try await answer(body) }
    #expect(error?.code == .invalidAnswer)
    #expect(error?.message == message)
    #expect(error?.hint.hasPrefix("check the base URL of this origin") == true)
  }

  @Test func bytesThatAreNotTextAreNotUnderstood() async throws {
    for bytes in [[0x22, 0xFF, 0xFE], Array(0...255), [0x1F, 0x8B, 8, 0]] as [[UInt8]] {
      let transfer = FakeTransfer(HTTP.Response(HTTP.ResponseHead(status: 200), body: bytes))
      let origin = HTTPCityOrigin(try server("https://a.example", transfer))
      let error = await failure { () throws(CacheError) in
        _ = try await origin.answer(to: Asked.cities(), conditions: [:])
      }
      #expect(error?.code == .invalidAnswer)
    }
  }
}
