import CacheData
import FetchVocabulary
import Testing

/// Redirects are followed if that is safe, a limited number of times, and without revealing secrets.
struct RedirectTests {
  private static let empty = HTTPResponse(
    HTTPResponseHead(status: 200), body: Array(#"{"page": 0, "totalPages": 0, "totalItems": 0, "items": []}"#.utf8))
  private static let query = "page=0&order=revenue&sort=desc"

  private static func redirect(_ location: String, status: Int = 302) -> HTTPResponse {
    HTTPResponse(HTTPResponseHead(status: status, fields: ["Location": location]))
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
  func theNewAddressIsAsked(redirect: (location: String, url: String), status: Int) async throws {
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
    let server = OriginServer(
      try BaseURL("https://a.example"), clientIdentity: "digest", transfer: transfer)
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
    let fields: HTTPFields = ["Location": "https://a.example/a", "location": second]
    let transfer = FakeTransfer(HTTPResponse(HTTPResponseHead(status: 302, fields: fields)))
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
