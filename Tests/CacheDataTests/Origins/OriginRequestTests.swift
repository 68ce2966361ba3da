import CacheDomain
import FetchVocabulary
import Testing
@testable import CacheCore
@testable import CacheData
@testable import HTTPCaching

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
  func theNearestWidthIsRequested(width: Int, expected: Int) throws {
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

  @Test func aKeyIsTheFirstParameterIfThereIsNoOther() throws {
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
    let conditions: HTTP.Fields = ["If-None-Match": "W/\"1\"", "Cache-Control": "max-age=0"]
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

struct BaseURLTests {
  @Test(arguments: [
    ("https://projects.propublica.org/", "propublica"), ("https://projects.propublica.org", "propublica"),
    ("HTTPS://Projects.ProPublica.org:443/", "propublica"),
    ("http://projects.propublica.org/", "propublica@projects.propublica.org:80"),
    ("https://projects.propublica.org:8443", "propublica@projects.propublica.org:8443"),
    ("http://127.0.0.1:8080", "propublica@127.0.0.1:8080"), ("http://localhost:80/", "propublica@localhost:80"),
    ("https://mirror.example/api", "propublica@mirror.example/api"), ("http://[::1]:9/", "propublica@[::1]:9"),
    ("https://Ä.example", "propublica@xn--4ca.example"), ("http://127.0.0.1:9", "propublica@127.0.0.1:9"),
    ("https://a.example/%7Eb/%c3", "propublica@a.example/~b/%C3"),
    ("https://a.example/b/../c", "propublica@a.example/c"), ("https://[0::1]", "propublica@[::1]"),
    ("https://a.example/é", "propublica@a.example/%C3%A9"), ("http://[::1]/", "propublica@[::1]:80"),
    ("https://[::1]/x", "propublica@[::1]/x"),
  ])
  func theNameTellsServersApart(url: String, name: String) throws {
    #expect(ProPublicaCityOrigin(try server(url)).name == name)
  }

  @Test func everyKindHasSeparateNames() throws {
    #expect(HTTPCityOrigin(try server("http://localhost:8080/cities")).name == "http@localhost:8080/cities")
    #expect(HTTPCityOrigin(try server(ProPublicaCityOrigin.address)).name == "http@projects.propublica.org")
    #expect(TMDBMovieOrigin(try server(TMDBMovieOrigin.address)).name == "tmdb")
    #expect(TMDBMovieOrigin(try server("https://proxy.example/tmdb")).name == "tmdb@proxy.example/tmdb")
    #expect(TMDBPosterOrigin(try server(TMDBPosterOrigin.address)).name == "tmdb")
    #expect(TMDBPosterOrigin(try server("http://localhost:1")).name == "tmdb@localhost:1")
  }

  @Test(arguments: [
    ("https://a.example", "https://a.example/t/p/w342/a.jpg"),
    ("https://a.example/", "https://a.example/t/p/w342/a.jpg"),
    ("https://a.example/b", "https://a.example/b/t/p/w342/a.jpg"),
    ("https://a.example/b//", "https://a.example/b/t/p/w342/a.jpg"),
    ("HTTP://ä.example:/%7eb/%2e/c", "http://xn--4ca.example/%7eb/c/t/p/w342/a.jpg"),
    ("http://A.example:80/B", "http://a.example/B/t/p/w342/a.jpg"),
    ("http://[::1]:8080/", "http://[::1]:8080/t/p/w342/a.jpg"),
  ])
  func aPathAndASlashAtTheEndAreAllowed(url: String, expected: String) throws {
    #expect(try TMDBPosterOrigin(server(url)).httpRequest(for: Asked.poster()).url == expected)
  }

  @Test(arguments: [
    ("https://a.example", "https://a.example/?page=0&order=revenue&sort=desc"),
    ("https://a.example/cities", "https://a.example/cities?page=0&order=revenue&sort=desc"),
    ("https://a.example/cities/", "https://a.example/cities/?page=0&order=revenue&sort=desc"),
  ])
  func theAddressIsRequestedUnchanged(url: String, expected: String) throws {
    #expect(try HTTPCityOrigin(server(url)).httpRequest(for: Asked.cities()).url == expected)
  }

  @Test(arguments: [
    "", "a.example", "ftp://a.example", "https://", "https:///x", "https://:80", "https://user:hunter2@a.example/",
    "https://a.example/?q=hunter2", "https://a.example/#hunter2", "https://a example/hunter2", "https://a／b.example/",
    "https://hunter2\\a.example/",
  ])
  func invalidAddressesAreRefusedWithoutBeingShown(url: String) throws {
    let error = try #require(throws: CacheError.self) { _ = try BaseURL(url) }
    #expect(error.code == .invalidRequest)
    #expect(!"\(error)".contains("hunter2"))
  }
}

/// Redirects are followed if that is safe, a limited number of times, and without revealing secrets.
struct RedirectTests {
  private static let empty = HTTP.Response(
    HTTP.ResponseHead(status: 200), body: Array(#"{"page": 0, "totalPages": 0, "totalItems": 0, "items": []}"#.utf8))
  private static let query = "page=0&order=revenue&sort=desc"

  private static func redirect(_ location: String, status: Int = 302) -> HTTP.Response {
    HTTP.Response(HTTP.ResponseHead(status: status, fields: ["Location": location]))
  }

  private func ask(_ base: String, _ transfer: FakeTransfer, _ credentials: OriginCredentials = .none) async throws {
    let server = try server(
      base, transfer, credentials: credentials, fields: ["X-Plain": "1"], secretFields: ["X-Secret": "s3cret"])
    _ = try await HTTPCityOrigin(server).answer(to: Asked.cities(), conditions: ["If-None-Match": "\"1\""])
  }

  @Test(
    arguments: [
      ("/b?c=1#d", "http://a.example/b?c=1"), ("b", "http://a.example/b"), ("?c=1", "http://a.example/cities?c=1"),
      ("//b.example", "http://b.example/"), ("https://a.example/cities", "https://a.example/cities"),
      ("HTTPS://A.example:444/", "https://a.example:444/"), ("http://u:p@b.example/", "http://b.example/"),
      ("/caf\u{F7E9} a/%7e", "http://a.example/caf%E9%20a/%7e"), ("http://ä.example/", "http://xn--4ca.example/"),
      ("x/%2e%2e/y", "http://a.example/y"), ("/a, /b", "http://a.example/a,%20/b"),
    ], [301, 302, 303, 307, 308])
  func theNewAddressIsRequested(redirect: (location: String, url: String), status: Int) async throws {
    let first = "http://a.example/cities?\(Self.query)"
    let transfer = FakeTransfer(Self.empty, but: [first: Self.redirect(redirect.location, status: status)])
    try await ask("http://a.example/cities", transfer)
    #expect(transfer.requests.map(\.url) == [first, redirect.url])
    #expect(transfer.requests.map { $0.fields["If-None-Match"] } == ["\"1\"", "\"1\""])
    #expect(transfer.requests.map { $0.fields["X-Plain"] } == ["1", "1"])
  }

  @Test(
    arguments: [
      ("https://a.example/new", "Bearer t", "s3cret"), ("https://a.example:443/new", "Bearer t", "s3cret"),
      ("https://a.example:444/new", nil, nil), ("https://b.example/new", nil, nil),
      ("https://a.example.b.example/", nil, nil),
    ] as [(String, String?, String?)])
  func secretsStayWithTheirServer(location: String, authorization: String?, secret: String?) async throws {
    let first = "https://a.example/?\(Self.query)"
    let transfer = FakeTransfer(Self.empty, but: [first: Self.redirect(location)])
    try await ask("https://a.example", transfer, .bearerToken("t"))
    let last = try #require(transfer.requests.last)
    #expect(transfer.requests.count == 2)
    #expect(last.fields["Authorization"] == authorization)
    #expect(last.fields["X-Secret"] == secret)
  }

  @Test(arguments: [("https://a.example/new", "digest"), ("https://b.example/new", nil)] as [(String, String?)])
  func theCertificateIsShownToItsServerOnly(location: String, identity: String?) async throws {
    let transfer = FakeTransfer(Self.empty, but: ["https://a.example/?\(Self.query)": Self.redirect(location)])
    let server = OriginServer(try BaseURL("https://a.example"), clientIdentity: "digest", transfer: transfer)
    _ = try await HTTPCityOrigin(server).answer(to: Asked.cities(), conditions: [:])
    #expect(transfer.requests.map(\.clientIdentity) == ["digest", identity])
  }

  @Test func aKeyInTheURLIsNotAddedElsewhere() async throws {
    let first = "https://a.example/?\(Self.query)&k=s3cret"
    let transfer = FakeTransfer(Self.empty, but: [first: Self.redirect("https://b.example/?\(Self.query)")])
    try await ask("https://a.example", transfer, .queryParameter(name: "k", value: "s3cret"))
    #expect(transfer.requests.map(\.url) == [first, "https://b.example/?\(Self.query)"])
  }

  @Test(arguments: [
    "http://a.example/", "HTTP://a.example/", "ftp://a.example/", "file:///etc/passwd", "", "https://",
    "javascript:alert(1)", "https://b／evil.example/", "https://good\\@evil.example/", "https://a%2Fb/",
  ])
  func otherRedirectsAreNotFollowed(location: String) async throws {
    let transfer = FakeTransfer(Self.redirect(location))
    let error = await #expect(throws: CacheError.self) { try await ask("https://a.example/c", transfer) }
    #expect(error?.code == .invalidAnswer)
    #expect(error?.message == "http@a.example/c redirects page 0 of cities elsewhere (302)")
    #expect(transfer.requests.count == 1)
  }

  @Test(arguments: ["https://a.example/a", "https://a.example/b"])
  func aRedirectWithTwoPlacesIsAnError(second: String) async throws {
    let fields: HTTP.Fields = ["Location": "https://a.example/a", "location": second]
    let transfer = FakeTransfer(HTTP.Response(HTTP.ResponseHead(status: 302, fields: fields)))
    let error = await #expect(throws: CacheError.self) { try await ask("https://a.example/c", transfer) }
    #expect(error?.code == .invalidAnswer && error?.message.contains("Location") == true)
    #expect(transfer.requests.count == 1)
  }

  @Test func redirectsWithoutEndAreLeft() async throws {
    let transfer = FakeTransfer(Self.redirect("https://a.example/loop"))
    let error = await #expect(throws: CacheError.self) { try await ask("https://a.example", transfer) }
    #expect(error?.code == .invalidAnswer)
    #expect(error?.message == "http@a.example sent more than 5 redirects for page 0 of cities")
    #expect(transfer.requests.count == 6)
  }
}

/// A typed resource is served only to the party that it was fetched for.
struct OriginPartyTests {
  /// Ways to identify the client to a server. No two are the same party.
  private static let parties: [(credentials: OriginCredentials, fields: HTTP.Fields, secretFields: HTTP.Fields)] = [
    (.none, [:], [:]), (.queryParameter(name: "k", value: "a"), [:], [:]),
    (.queryParameter(name: "k", value: "b"), [:], [:]), (.bearerToken("a"), [:], [:]), (.bearerToken("b"), [:], [:]),
    (.none, [:], ["X-Tenant": "a"]), (.none, [:], ["X-Tenant": "b"]), (.none, ["Cookie": "a=1"], [:]),
    (.none, [:], ["Cookie": "a=2"]), (.none, ["Host": "b.example"], [:]), (.none, ["Host": "c.example"], [:]),
  ]

  private static func origin(_ index: Int, _ transfer: FakeTransfer = FakeTransfer()) throws -> HTTPCityOrigin {
    let party = parties[index]
    return HTTPCityOrigin(
      try server(
        "http://a.example/cities", transfer, credentials: party.credentials, fields: party.fields,
        secretFields: party.secretFields))
  }

  @Test func noPartySelectsTheResponseOfAnother() throws {
    let messages = try Self.parties.indices.map { try Self.origin($0).message(for: Asked.cities()) }
    let rules = HTTPCacheRules(freshness: HTTPCacheBench.freshness)
    for (index, message) in messages.enumerated() {
      let selector = try #require(VariantSelector(response: [:], request: message, key: .ofProcess))
      #expect(messages.indices.filter { rules.selects(selector, messages[$0]) } == [index])
    }
    #expect(Set(messages.map { rules.party(of: $0) }).count == messages.count, "each makes its own request")
    #expect(rules.party(of: messages[0]).isEmpty)
  }

  @Test func plainFieldsThatAreCredentialsStayWithTheirServer() async throws {
    let body = #"{"page": 0, "totalPages": 0, "totalItems": 0, "items": []}"#
    let redirect = HTTP.Response(HTTP.ResponseHead(status: 302, fields: ["Location": "http://z.example/"]))
    let transfer = FakeTransfer(
      HTTP.Response(HTTP.ResponseHead(status: 200), body: Array(body.utf8)),
      but: ["http://a.example/cities?page=0&order=revenue&sort=desc": redirect])
    let server = try server(
      "http://a.example/cities", transfer, fields: ["Cookie": "a=1", "Host": "b.example", "X-Plain": "1"])
    _ = try await HTTPCityOrigin(server).answer(to: Asked.cities(), conditions: [:])
    let names = transfer.requests.map { Set($0.fields.lines.map { $0.name.lowercased() }) }
    #expect(names.map { $0.isSuperset(of: ["cookie", "host"]) } == [true, false])
    #expect(names.last?.isDisjoint(with: ["cookie", "host"]) == true && names.last?.contains("x-plain") == true)
  }
}

/// Secrets are sent, and appear nowhere else.
struct OriginSecretTests {
  private static let key = "k3y/with+signs"
  private static let token = "eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiIxIn0.c2ln-bmF0_dXJl"
  private static let password = "aHVudGVyMg=="
  /// The secrets unchanged, and percent-encoded as in URLs.
  private static let forms = [key, "k3y%2Fwith%2Bsigns", token, password, "aHVudGVyMg%3D%3D"]

  private func origin(_ key: String, _ transfer: FakeTransfer) throws -> TMDBMovieOrigin {
    TMDBMovieOrigin(
      try server(
        "https://a.example", transfer, credentials: .tmdb(key), fields: ["X-Plain": "of"],
        secretFields: ["X-Secret": "Basic \(Self.password)"]))
  }

  private func isFree(_ text: String) -> Bool { Self.forms.allSatisfy { !text.lowercased().contains($0.lowercased()) } }

  @Test(arguments: [key, token]) func descriptionsDoNotShowIt(key: String) throws {
    let origin = try origin(key, FakeTransfer())
    var dumped = ""
    dump(origin, to: &dumped)
    dump(OriginCredentials.tmdb(key), to: &dumped)
    dump(try origin.endpoint(for: Asked.movies()), to: &dumped)
    let texts = [
      "\(origin)", String(reflecting: origin), "\(origin.server)", String(reflecting: origin.server), dumped,
    ]
    let credentials = OriginCredentials.tmdb(key)
    for text in texts + ["\(credentials)", String(reflecting: credentials), origin.name] { #expect(isFree(text)) }
    let request = MoviesRequestDTO(origin: origin.name, query: try Asked.movies().query, page: 1)
    for (_, value) in request.parameters { #expect(isFree(value)) }
    #expect(isFree(try origin.message(for: Asked.movies()).url))
  }

  @Test(arguments: [(key, key), (key, "k3y%2Fwith%2Bsigns"), (token, token), (key, password), (token, password)])
  func aBodyThatRepeatsItIsNotQuoted(key: String, form: String) async throws {
    let body = #"{"status_message": "the key \#(form) is wrong", "\#(form)": "\#(form)"}"#
    for status in [200, 206, 301, 400, 401, 404, 418, 422, 429, 500, 503] {
      for body in [body, body.uppercased(), body.lowercased(), "<html>\(form)"] {
        let transfer = FakeTransfer(status, ["X-Secret": form, "Location": "https://\(form)/\(form)?\(form)"], body)
        let request = try Asked.movies()
        let origin = try origin(key, transfer)
        let error = await failure { () throws(CacheError) in _ = try await origin.answer(to: request, conditions: [:]) }
        #expect(error?.message.isEmpty == false)
        #expect(isFree(String(reflecting: error)), "\(status) \(body)")
      }
    }
  }

  private struct Cause: Error { let url: String }

  @Test func aTransferThatShowsItIsSilenced() async throws {
    let url = "https://a.example/?api_key=k3y%2Fwith%2Bsigns"
    let errors = [
      CacheError(.originUnreachable, "GET \(url) failed", hint: "try again"),
      CacheError(.originUnreachable, "it failed", hint: "open \(url)"),
      CacheError(.originUnreachable, "it failed", hint: "try again", cause: Cause(url: url)),
    ]
    let request = try Asked.movies()
    for error in errors {
      let origin = try origin(Self.key, FakeTransfer(failing: error))
      let found = await failure { () throws(CacheError) in _ = try await origin.answer(to: request, conditions: [:]) }
      #expect(found?.code == .originUnreachable)
      #expect(found?.message.isEmpty == false && found?.hint.isEmpty == false)
      #expect(isFree(String(reflecting: found)))
    }
  }

  @Test func anInnocentCauseIsKept() async throws {
    let request = try Asked.movies()
    let error = CacheError(.originUnreachable, "it failed", cause: Cause(url: "https://a.example/"))
    let origin = try origin(Self.key, FakeTransfer(failing: error))
    let found = await failure { () throws(CacheError) in _ = try await origin.answer(to: request, conditions: [:]) }
    #expect(found?.cause is Cause)
  }
}
