import CacheData
import CacheDomain
import Testing

/// The requests that servers get.
struct OriginRequestTests {
  private static let token = "eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiIxIn0.c2ln-bmF0_dXJl"

  @Test(arguments: [
    (CitiesQuery(), "order=revenue&sort_order=desc&page=0"),
    (CitiesQuery(order: .name, page: 7), "order=name&sort_order=asc&page=7"),
    (CitiesQuery(order: .organizations, direction: .ascending), "order=organizations&sort_order=asc&page=0"),
  ])
  func proPublicaIsSentTheOrderAllTheSame(query: CitiesQuery, expected: String) throws {
    let request = try ProPublicaCityOrigin(server("https://a.example")).httpRequest(for: Asked.cities(query))
    #expect(request.url == "https://a.example/nonprofits/api/v2/search.json?\(expected)")
    #expect(request.method == "GET")
    #expect(request.fields == ["Accept": "application/json"])
    #expect(request.body.isEmpty)
  }

  @Test(arguments: [
    ("the  wire", "the%20wire"), ("a&b=c?#+%", "a%26b%3Dc%3F%23%2B%25"), ("Amélie 東", "Am%C3%A9lie%20%E6%9D%B1"),
    ("x-._~", "x-._~"),
  ])
  func theQueryIsEncoded(text: String, expected: String) throws {
    let origin = TMDBMovieOrigin(try server("https://a.example"))
    let url = try origin.httpRequest(for: Asked.movies(text, page: 500)).url
    #expect(url == "https://a.example/3/search/movie?query=\(expected)&page=500")
  }

  @Test(arguments: [
    (1, 92), (92, 92), (100, 92), (500, 500), (600, 500), (641, 780), (10_000, 780),
  ])
  func theNearestWidthIsAskedFor(width: Int, expected: Int) throws {
    let request = try TMDBPosterOrigin(server("https://a.example")).httpRequest(for: Asked.poster(width: width))
    #expect(request.url == "https://a.example/t/p/w\(expected)/a.jpg")
    #expect(request.fields == ["Accept": "image/*"])
  }

  @Test(arguments: [("a.jpg", "/a.jpg"), ("/ä b?c#d.jpg", "/%C3%A4%20b%3Fc%23d.jpg"), ("/50%.jpg", "/50%25.jpg")])
  func thePathOfAPosterIsEncoded(path: String, expected: String) throws {
    let request = try TMDBPosterOrigin(server("https://a.example")).httpRequest(for: Asked.poster(path))
    #expect(request.url == "https://a.example/t/p/w342\(expected)")
  }

  @Test(arguments: ["", "/", "//", "/..", "/../3/account", "/a/./b.jpg", "/a/"])
  func aPathThatNamesNoPosterIsNotAsked(path: String) async throws {
    let transfer = FakeTransfer(200, ["Content-Type": "image/png"], "x")
    let origin = TMDBPosterOrigin(try server("https://a.example", transfer))
    let error = await failure { () throws(CacheError) in
      _ = try await origin.answer(to: Asked.poster(path), conditions: [:])
    }
    #expect(error?.code == .invalidRequest)
    #expect(transfer.requests.isEmpty)
  }

  @Test(arguments: [Int.min, -1, 0, 501, 1_000, Int.max])
  func aPageOfMoviesThatCannotBeIsNotAsked(page: Int) async throws {
    let transfer = FakeTransfer.json(#"{"results": []}"#)
    let origin = TMDBMovieOrigin(try server("https://a.example", transfer))
    let request = try Asked.movies(page: page)
    let error = await failure { () throws(CacheError) in _ = try await origin.answer(to: request, conditions: [:]) }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message == "there is no page \(page) of movies")
    #expect(error?.hint == "ask for a page from 1 to 500")
    #expect(transfer.requests.isEmpty)
  }

  @Test func aNegativePageOfCitiesIsNotAsked() async throws {
    let transfer = FakeTransfer()
    let server = try server("https://a.example", transfer)
    let request = Asked.cities(CitiesQuery(page: -1))
    for origin in [ProPublicaCityOrigin(server), HTTPCityOrigin(server)] as [any CityOrigin] {
      let error = await failure { () throws(CacheError) in _ = try await origin.answer(to: request, conditions: [:]) }
      #expect(error?.code == .invalidRequest)
    }
    #expect(transfer.requests.isEmpty)
  }

  @Test(arguments: [
    ("0123456789abcdef", "https://a.example/3/search/movie?query=wire&page=1&api_key=0123456789abcdef", nil),
    ("a&b \n", "https://a.example/3/search/movie?query=wire&page=1&api_key=a%26b", nil),
    ("eyJ.short", "https://a.example/3/search/movie?query=wire&page=1&api_key=eyJ.short", nil),
    ("eyJ.a\nX: y.c", "https://a.example/3/search/movie?query=wire&page=1&api_key=eyJ.a%0AX%3A%20y.c", nil),
    (token, "https://a.example/3/search/movie?query=wire&page=1", "Bearer \(token)"),
    ("  \(token)\n", "https://a.example/3/search/movie?query=wire&page=1", "Bearer \(token)"),
    (" \n", "https://a.example/3/search/movie?query=wire&page=1", nil),
  ])
  func aKeyIsAParameterAndATokenAField(key: String, url: String, authorization: String?) async throws {
    let transfer = FakeTransfer.json(#"{"results": []}"#)
    let origin = TMDBMovieOrigin(try server("https://a.example", transfer, credentials: .tmdb(key)))
    _ = try await origin.answer(to: Asked.movies(), conditions: [:])
    #expect(transfer.requests.map(\.url) == [url])
    #expect(transfer.requests.map { $0.fields["Authorization"] } == [authorization])
    let message = try origin.message(for: Asked.movies())
    #expect(message.url == "https://a.example/3/search/movie?query=wire&page=1")
    #expect(message.fields == transfer.requests.first?.fields)
  }

  @Test func aKeyIsTheFirstParameterWhereThereIsNoOther() throws {
    let server = try server("https://a.example", credentials: .queryParameter(name: "k y", value: "v/w"))
    let request = try TMDBPosterOrigin(server).httpRequest(for: Asked.poster())
    #expect(request.url == "https://a.example/t/p/w342/a.jpg?k%20y=v%2Fw")
  }

  @Test func configuredFieldsGoWithEveryRequest() async throws {
    let transfer = FakeTransfer(304)
    let server = try server(
      "https://a.example", transfer, credentials: .bearerToken("t"),
      fields: ["User-Agent": "cachectl/1.2.3", "accept": "application/vnd.api+json"],
      secretFields: ["Authorization": "Basic cGFzcw=="])
    let conditions: HTTPFields = ["If-None-Match": "W/\"1\"", "Cache-Control": "max-age=0"]
    _ = try await HTTPCityOrigin(server).answer(to: Asked.cities(), conditions: conditions)
    #expect(
      transfer.requests.map(\.fields) == [
        [
          "User-Agent": "cachectl/1.2.3", "accept": "application/vnd.api+json", "Authorization": "Basic cGFzcw==",
          "If-None-Match": "W/\"1\"", "Cache-Control": "max-age=0",
        ]
      ])
    #expect(try HTTPCityOrigin(server).message(for: Asked.cities()).fields.contains("If-None-Match") == false)
  }
}
