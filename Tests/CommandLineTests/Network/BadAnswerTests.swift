import Foundation
import TestOrigin
import Testing

/// Servers that fail in every way: the exit code of the contract. A response that was cached before is still served.
@Suite struct BadAnswerTests {
  /// A way to fail. If `response` does not fail, the target of its redirect does.
  enum Failure: String, CaseIterable, Sendable {
    case invalidJSON, page, wrongTypes, missingKeys, empty, anotherPage
    case announcedTooLong, endless, cut, cutChunks, tooLong, garbage, noAnswer, redirectLoop, failedServer
    case certificate, unknownHost, refusedConnection

    /// The response, and the servers that it redirects to, which stop when the caller releases them.
    func response() throws -> (TestResponse, keeping: [any AnyObject & Sendable]) {
      let good = TestResponse.json(OriginSettings.page)
      switch self {
      case .invalidJSON: return (.json("{\"items\": ["), [])
      case .page: return (.html(200), [])
      case .wrongTypes: return (.json(OriginSettings.page.replacing("12", with: "\"12\"")), [])
      case .missingKeys: return (.json("{\"resource\": \"cities\"}"), [])
      case .empty: return (.json(""), [])
      case .anotherPage: return (.json(OriginSettings.page.replacing("\"page\": 0", with: "\"page\": 1")), [])
      case .announcedTooLong: return (Self.long(1 << 30), [])
      case .endless: return (Self.long(nil), [])
      case .cut: return (good.cut(after: 20), [])
      case .cutChunks: return (good.chunked(10).cut(after: 20), [])
      case .tooLong: return (good.claiming(length: 10_000), [])
      case .garbage: return (.raw("220 mail.example ESMTP\r\n"), [])
      case .noAnswer: return (.hangUp, [])
      case .redirectLoop: return (.redirect(to: "/"), [])
      case .failedServer: return (.html(500), [])
      case .certificate:
        let server = try SelfSignedServer()
        return (.redirect(to: server.url), [server])
      case .unknownHost: return (.redirect(to: "http://nonexistent.invalid/"), [])
      case .refusedConnection:
        let port = try ClosedPort()
        return (.redirect(to: port.url), [port])
      }
    }

    private static func long(_ count: Int?) -> TestResponse {
      TestResponse(
        fields: ["Content-Type": "application/json"], body: .repeated(Array("[1, 2, 3], ".utf8), count: count))
    }
  }

  /// The proxy fails, not the server.
  @Test(arguments: [
    ("http_proxy", "http", "http://127.0.0.1:PORT", "the proxy 127.0.0.1:PORT refuses the connection"),
    ("https_proxy", "https", "http://name:hidden@127.0.0.1:PORT", "the proxy 127.0.0.1:PORT refuses the connection"),
    ("http_proxy", "http", "http://nonexistent.invalid:1", "the name of the proxy for 127.0.0.1:9 is not known"),
    ("http_proxy", "http", "foo://name:hidden@127.0.0.1:PORT", "there is no such kind of proxy"),
  ])
  func aProxyThatFailsIsNamed(variable: String, scheme: String, proxy: String, words: String) async throws {
    let closed = try ClosedPort()
    let text: (String) -> String = { $0.replacing("PORT", with: "\(closed.port)") }
    let run = try await Scratch().cachectl(
      "fetch", "url", "\(scheme)://127.0.0.1:9/", environment: [variable: text(proxy)])
    expectFailure(run, status: 69, mentioning: [text(words), variable])
    #expect(!run.errors.contains("hidden"))
  }

  /// It may be the proxy that sends nothing.
  @Test func aProxyThatHangsUpIsNamed() async throws {
    let proxy = try TestServer { _ in .hangUp }
    let run = try await Scratch().cachectl("fetch", "url", "http://nowhere.invalid/", "-x", proxy.url)
    expectFailure(run, status: 69, mentioning: ["nowhere.invalid or the proxy before it"])
  }

  @Test func aProxyMayWantCredentials() async throws {
    let (scratch, proxy) = (try Scratch(), try TestServer { _ in TestResponse(status: 407, "page of the proxy") })
    let words = ["the proxy for nowhere.invalid requires credentials", "https_proxy=http://NAME:PASSWORD@"]
    let secure = try await scratch.cachectl("fetch", "url", "https://nowhere.invalid/", "-x", proxy.url)
    expectFailure(secure, status: 69, mentioning: words)
    let command = ["fetch", "url", "http://nowhere.invalid/", "-x", proxy.url]
    let plain = try await scratch.cachectl(command)
    #expect(plain.status == 0 && plain.text == "page of the proxy" && words.allSatisfy(plain.errors.contains))
    expectFailure(try await scratch.cachectl(command + ["--fail"]), status: 69, mentioning: words)
    try scratch.configure(OriginSettings.cities("http://nowhere.invalid/"))
    let cities = try await scratch.cachectl("fetch", "cities", environment: ["http_proxy": proxy.url])
    expectFailure(cities, status: 69, mentioning: ["requires credentials", "NAME:PASSWORD"])
  }

  /// A server's message can have any length.
  @Test(arguments: [false, true])
  func aServerWritesNoEndlessMessage(isURL: Bool) async throws {
    let long = String(repeating: "gzip, x", count: 3_000)
    let (scratch, server) = (
      try Scratch(),
      try TestServer { _ in TestResponse.json("{\"message\": \"\(long)\"", fields: ["Content-Encoding": long]) }
    )
    try scratch.configure(OriginSettings.cities(server.url))
    let command = isURL ? ["fetch", "url", "--compressed", server.url] : ["fetch", "cities"]
    for format in ["table", "json"] {
      let run = try await scratch.cachectl(command + ["--output", format])
      #expect(run.errors.utf8.count < 1_500, "\(run.errors.prefix(2_000))")
    }
  }

  /// As the configuration calls it.
  @Test(arguments: [TestResponse.json(OriginSettings.page), TestResponse.json(OriginSettings.page).gzipped()])
  func aLimitIsNamedWithItsSection(response: TestResponse) async throws {
    let (scratch, server) = (try Scratch(), try TestServer { _ in response })
    try scratch.configure(OriginSettings.cities(server.url, more: #", "maxResponseBytes": "250B""#))
    let run = try await scratch.cachectl("fetch", "cities")
    expectFailure(run, status: 69, mentioning: ["larger than 250 bytes", "raise origin.cities.maxResponseBytes"])
  }

  @Test(arguments: Failure.allCases)
  func withoutAnEntryTheFetchFails(failure: Failure) async throws {
    let scratch = try Scratch()
    let (response, kept) = try failure.response()
    let server = try TestServer(script: [response])
    try scratch.configure(OriginSettings.cities(server.url))
    expectFailure(try await scratch.cachectl("fetch", "cities"), status: 69)
    #expect(try await scratch.cachectl("ls", "--output", "json").document()["entries"]?.elements.isEmpty == true)
    #expect(server.count > 0)
    withExtendedLifetime(kept) {}
  }

  @Test func anEntryIsServedAndStays() async throws {
    let engine = "lmdb"
    let (scratch, server) = (try Scratch(), try OriginSettings.cityServer(freshFor: 0))
    try scratch.configure(OriginSettings.cities(server.url))
    let options = ["--backend", engine, "--output", "json"]
    let before = try await scratch.cachectl(options + ["fetch", "cities"]).document()
    for failure in Failure.allCases {
      let (response, kept) = try failure.response()
      server.override(response)
      let run = try await scratch.cachectl(options + ["fetch", "cities"])
      expectSuccess(run)
      let document = try run.document()
      #expect(document["source"] == "cache" && document["stale"] == true, "\(failure)")
      #expect(document["items"] == before["items"] && document["storedAt"] == before["storedAt"], "\(failure)")
      #expect(run.errorLines.count == 1, "\(failure): \(run.errors)")
      withExtendedLifetime(kept) {}
    }
    server.override(nil)
    let after = try await scratch.cachectl(options + ["fetch", "cities"]).document()
    #expect(after["revalidated"] == true && after["items"] == before["items"])
  }

  @Test(arguments: ["http://nonexistent.invalid", "closed", "untrusted"])
  func aServerThatCannotBeReachedIsNamed(address: String) async throws {
    let (scratch, port, untrusted) = (try Scratch(), try ClosedPort(), try SelfSignedServer())
    let url = ["closed": port.url, "untrusted": untrusted.url][address] ?? address
    try scratch.configure(OriginSettings.cities(url))
    let host = url.contains("127.0.0.1") ? "127.0.0.1" : "nonexistent.invalid"
    expectFailure(try await scratch.cachectl("fetch", "cities"), status: 69, mentioning: [host])
    expectFailure(try await scratch.cachectl("fetch", "url", url), status: 69, mentioning: [host])
    expectFailure(try await scratch.cachectl("fetch", "cities", "--offline"), status: 66)
    withExtendedLifetime((port, untrusted)) {}
  }
}
