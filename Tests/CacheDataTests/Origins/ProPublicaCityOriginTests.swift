import CacheData
import CacheDomain
import Testing

/// The quirks of ProPublica's search, each in an answer of its own.
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
  {
    #"{\#(rest), "organizations": [\#(organizations)]}"#
  }

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
      ("ME/Portland", "Portland", "ME", 1),
      ("ZZ/Paris", "Paris", "ZZ", 1), ("/Atlantis", "Atlantis", nil, 1),
    ]
    #expect(
      page.cities == expected.map { City(id: $0, name: $1, subName: $2, revenue: nil, organizationCount: $3) })
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
  func noResultsAreAnAnswer(body: String, status: Int) async throws {
    let page = try await page(.json(body, status: status))
    #expect(page == CitiesPage(page: 0, totalPages: 0, totalItems: 0, cities: []))
  }

  @Test func theHeadOfAnEmptyAnswerIsThatOfThe404() async throws {
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

  @Test(arguments: [500, 502, 503])
  func pagesOfHTMLOnFailureAreNotQuoted(status: Int) async throws {
    let error = await failure(of: FakeTransfer(status, ["Content-Type": "text/html"], "<html><h1>Oops</h1></html>"))
    #expect(error?.code == .originUnreachable)
    #expect(error?.message == "propublica@a.example failed to answer for page 0 of cities (\(status))")
  }

  @Test(arguments: [
    ("", "an empty answer"), ("  <!doctype HTML><p>Sign in", "a page of HTML instead of JSON"),
    ("{", "an answer that is not understood: it is not valid JSON"),
    ("[]", "an answer that is not understood: the whole is not an object"),
    ("{}", "an answer that is not understood: 'organizations' is missing"),
    (#"{"total_results": 1, "organizations": null}"#, "an answer that is not understood: 'organizations' is null"),
    (#"{"organizations": {}}"#, "an answer that is not understood: 'organizations' is not a list"),
    (#"{"organizations": [1]}"#, "an answer that is not understood: 'organizations[0]' is not an object"),
    (
      #"{"organizations": [{}, {"city": 7}]}"#,
      "an answer that is not understood: 'organizations[1].city' is not a text"
    ),
    (
      #"{"organizations": [], "total_results": -1}"#,
      "an answer that is not understood: 'total_results' is negative"
    ),
    (
      #"{"organizations": [], "num_pages": "3"}"#, "an answer that is not understood: 'num_pages' is not a whole number"
    ),
  ])
  func whatIsNotUnderstoodIsSaid(body: String, reason: String) async throws {
    let error = await failure(of: FakeTransfer(200, ["Content-Type": "application/json"], body))
    #expect(error?.code == .invalidAnswer)
    #expect(error?.message == "propublica@a.example sent \(reason)")
  }

  @Test(arguments: [1, 1e30, 0.5])
  func countsThatAreNoWholeNumbersAreNotUnderstood(excess: Double) async throws {
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
    } catch {
      return error as? CacheError
    }
  }
}
