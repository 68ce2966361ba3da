import Foundation
import TestOrigin
import Testing

/// The commands about entries accept a URL in place of a key; and `fetch url --out`.
@Suite struct EntriesOfURLsTests {
  private static let fields: TestFields = ["Cache-Control": "max-age=600", "Vary": "X-Kind"]

  /// A server whose responses differ by a header field of the request.
  private func server() throws -> TestServer {
    try TestServer { TestResponse(fields: Self.fields, $0.fields["X-Kind"] ?? "none") }
  }

  @Test func aURLStandsForItsEntries() async throws {
    let engine = "sqlite"
    let (scratch, server) = (try Scratch(), try server())
    func run(_ arguments: String...) async throws -> Run {
      try await scratch.cachectl(["--backend", engine] + arguments)
    }
    let url = "\(server.url)/a?b=c"
    // Another spelling of the same URL, and one that only begins like it.
    let spelling = url.replacing("http://", with: "HTTP://me:secret@") + "#part"
    expectSuccess(try await run("fetch", "url", url))
    expectSuccess(try await run("fetch", "url", url + "d"))
    #expect(try await run("show", spelling, "--raw").text == "none")
    // Credentials are header fields, which did not select the stored response.
    let explained = try await run("explain", url.replacing("http", with: "HTTP") + "#part", "--output", "json")
    #expect(try explained.document()["action"] == "serve", "\(explained.text)")

    expectSuccess(try await run("fetch", "url", url, "--header", "X-Kind: other"))
    let ambiguous = try await run("show", spelling)
    let keys = try await run("ls", "--match", "*b%3Dc,*", "--output", "json").document()["entries"]?.elements
      .compactMap { $0["key"]?.text }.filter { !$0.hasSuffix(",variant=any") }
    #expect(keys?.count == 2)
    expectFailure(ambiguous, status: 64, mentioning: ["2 entries, selected by x-kind"] + (keys ?? []))
    #expect(!ambiguous.errors.contains("secret"))

    let soft = try await run("rm", "--soft", spelling, "--output", "json")
    // With the signpost to the two.
    #expect(try soft.document()["removed"] == 3 && soft.document()["soft"] == true)
    #expect(try await run("ls", "--state", "stale", "--output", "json").document()["entries"]?.elements.count == 3)
    #expect(try await run("rm", spelling, "--output", "json").document()["removed"] == 3)
    expectFailure(try await run("show", spelling), status: 66, mentioning: [url])
    let again = try await run("rm", spelling)
    #expect(again.status == 66 && again.errors.contains(url) && !again.errors.contains("secret"))
    #expect(try await run("ls", "--output", "json").document()["entries"]?.elements.count == 1)
  }

  /// `ls` and `rm` take URLs as people write them.
  @Test(arguments: Contract.persistentEngines)
  func entriesAreFoundByTheirURLs(engine: String) async throws {
    let (scratch, server) = (try Scratch(), try server())
    func run(_ arguments: [String]) async throws -> Run {
      try await scratch.cachectl(["--backend", engine] + arguments)
    }
    func urls(_ options: String...) async throws -> [String] {
      try await run(["ls", "--output", "json"] + options).document()["entries"]?.elements
        .map { String(($0["url"]?.text ?? "none").dropFirst(server.url.count)) } ?? []
    }
    for path in ["/v1/a?q=1", "/v1/a?q=2", "/v2/b"] { expectSuccess(try await run(["fetch", server.url + path])) }
    expectSuccess(try await run(["fetch", server.url + "/v2/b", "-H", "X-Kind: other"]))
    expectSuccess(try await run(["fetch", "cities"]))
    let upper = server.url.replacing("http", with: "HTTP")
    #expect(try await urls().sorted() == ["/v1/a?q=1", "/v1/a?q=2", "/v2/b", "/v2/b", "/v2/b", ""].sorted())
    #expect(try await urls(server.url + "/v2/b").count == 3)
    #expect(try await urls(server.url + "/v1/a").isEmpty)
    #expect(try await urls(upper + "/v2/b#x", "--limit", "2", "--sort", "size").count == 2)
    #expect(try await urls("--prefix", "\(upper)/v1/") == ["/v1/a?q=1", "/v1/a?q=2"])
    #expect(try await urls("--match", "\(upper)/*=2") == ["/v1/a?q=2"])
    #expect(try await urls("--match", "*/v2/*").count == 3)
    let table = try await run(["ls", server.url + "/v2/b"])
    #expect(table.text.contains("\(server.url)/v2/b (list of 2 responses)\t"), "\(table.text)")
    #expect(table.text.contains("\(server.url)/v2/b (x-kind "), "\(table.text)")
    expectFailure(try await run(["ls", "cities"]), status: 64, mentioning: ["--namespace"])
    expectFailure(try await run(["ls", server.url, "--prefix", "x"]), status: 64, mentioning: ["--prefix"])
    #expect(try await run(["rm", "--match", "\(server.url)/v1/*", "--output", "json"]).document()["removed"] == 2)
    #expect(try await run(["rm", "--prefix", server.url, "--output", "json"]).document()["removed"] == 3)
    #expect(try await urls() == [""])
  }

  @Test func severalResponsesAreNamedByTheirSelectingFields() async throws {
    let scratch = try Scratch()
    let server = try TestServer { request in
      let language = request.fields["Accept-Language"] ?? "en"
      return TestResponse(
        fields: ["Cache-Control": "max-age=600", "Vary": "Accept-Language", "Content-Language": language], language)
    }
    for language in ["en", "de"] {
      expectSuccess(try await scratch.cachectl("fetch", server.url, "-H", "Accept-Language: \(language)"))
    }
    let run = try await scratch.cachectl("show", server.url)
    expectFailure(run, status: 64, mentioning: ["2 entries, selected by accept-language", "(text/plain, de)", ", en)"])
    let explained = try await scratch.cachectl("explain", server.url, "-H", "Accept-Language: de")
    #expect(explained.text.hasPrefix("URL       \(server.url)/\n"), "\(explained.text)")
    let key = try #require(
      try await scratch.cachectl("ls", "--output", "json").document()["entries"]?.elements.first?["key"]?.text)
    let shown = try await scratch.cachectl("show", key)
    #expect(
      shown.text.hasPrefix("URL") && shown.text.contains("\nSelected by") && !shown.text.contains("\n:"),
      "\(shown.text)")
  }

  /// Two URLs that share an entry do so for every command, and for every request that changes it. The URL is sent
  /// unchanged.
  @Test(arguments: [
    ("/~a/%e2b?%7e", "/%7Ea/%E2%62?~"), ("/a/../b", "/%62"), ("/a/%2e%2E/b", "/./b"), ("/%2e%2e/b?../c", "/b?../c"),
  ])
  func spellingsOfAURLShareAnEntry(first: String, second: String) async throws {
    let (scratch, server) = (try Scratch(), try server())
    expectSuccess(try await scratch.cachectl("fetch", "url", server.url + first))
    let other = server.url + second
    #expect(try await scratch.cachectl("fetch", "url", other, "--offline").text == "none")
    #expect(try await scratch.cachectl("explain", other, "--output", "json").document()["action"] == "serve")
    #expect(try await scratch.cachectl("show", other, "--raw").text == "none")
    #expect(server.count == 1)
    expectSuccess(try await scratch.cachectl("fetch", "url", other, "--data", "x"))
    expectFailure(try await scratch.cachectl("show", server.url + first), status: 66, mentioning: [server.url])
    expectSuccess(try await scratch.cachectl("fetch", "url", server.url + first))
    #expect(try await scratch.cachectl("rm", other, "--output", "json").document()["removed"] == 1)
  }

  @Test(arguments: [
    ("/%7Ea/%e2?%7e", "/%7Ea/%e2?%7e"), ("/a/../b/./c", "/b/c"), ("/a/%2E%2e/b", "/b"),
    ("/a b+c?d e", "/a%20b+c?d%20e"),
    ("?", "/?"), ("", "/"), ("/%zz", "/%25zz"), ("/é", "/%C3%A9"),
  ])
  func requestsAreSentAsTyped(typed: String, target: String) async throws {
    let (scratch, server) = (try Scratch(), try server())
    expectSuccess(try await scratch.cachectl("fetch", "url", server.url + typed))
    #expect(server.requests.map(\.target) == [target])
  }

  @Test func dotSegmentsAreKeptOnRequest() async throws {
    let scratch = try Scratch()
    let server = try TestServer { TestResponse(fields: ["Cache-Control": "max-age=600"], $0.target) }
    let (url, command) = (server.url + "/a/../b/%2e/c", ["fetch", "url", "--path-as-is"])
    #expect(try await scratch.cachectl(command + [url]).text == "/a/../b/%2e/c")
    #expect(try await scratch.cachectl("fetch", "url", url).text == "/b/c")
    #expect(try await scratch.cachectl(command + [url, "--offline"]).text == "/a/../b/%2e/c")
    let explained = try await scratch.cachectl("explain", "url", url, "--path-as-is", "--output", "json")
    #expect(try explained.document()["action"] == "serve")
    #expect(server.count == 2)
    expectFailure(try await scratch.cachectl("show", url), status: 64, mentioning: ["2 entries"])
    #expect(try await scratch.cachectl("show", server.url + "/b/c", "--raw").text == "/b/c")
    #expect(try await scratch.cachectl("rm", url, "--output", "json").document()["removed"] == 2)
  }

  /// A URL, and one that a server names, may be longer than a key.
  @Test(arguments: Contract.inTurn(["x", "%e9", "%2e/"]))
  func aURLMayBeLongerThanAKey(engine: String, part: String) async throws {
    let scratch = try Scratch()
    let long = "/" + String(repeating: part, count: 9_000 / part.utf8.count * 3) + "end"
    let server = try TestServer { request in
      request.path == "/from"
        ? TestResponse(status: 302, fields: ["Location": long])
        : TestResponse(fields: ["Cache-Control": "max-age=600"], "\(request.method) \(request.target.utf8.count)")
    }
    func run(_ arguments: String...) async throws -> Run {
      try await scratch.cachectl(["--backend", engine] + arguments)
    }
    let text = "GET \(part == "%2e/" ? 4 : long.utf8.count)"
    for url in ["/from", long] { #expect(try await run("fetch", "url", server.url + url).text == text) }
    #expect(try await run("fetch", "url", server.url + long + "?").text != text)
    #expect(server.count == 3)
    #expect(try await run("show", server.url + long, "--raw").text == text)
    expectSuccess(try await run("verify"))
    let keys = try await run("ls", "--output", "json").document()["entries"]?.elements.compactMap { $0["key"]?.text }
    #expect(keys?.count == 2 && keys?.allSatisfy { $0.utf8.count < 1_400 } == true, "\(keys ?? [])")
    #expect(try await run("show", keys?.first ?? "", "--raw").text.hasPrefix("GET"))
    expectSuccess(try await run("fetch", "url", server.url + long, "--data", "x"))
    expectFailure(try await run("show", server.url + long), status: 66)
    #expect(try await run("rm", server.url + long + "?", "--output", "json").document()["removed"] == 1)
  }

  /// The address in `Location` is bytes: bytes that are not UTF-8 are sent unchanged, and their URL is removed from the
  /// cache.
  @Test(arguments: [false, true])
  func theAddressThatAServerNamesMayBeInAnyEncoding(isPost: Bool) async throws {
    let scratch = try Scratch()
    let place = "/caf".utf8 + [0xE9, 0x83, 0x41] + "?é".utf8
    let server = try TestServer { request in
      guard request.path == "/from" else {
        return TestResponse(fields: ["Cache-Control": "max-age=600"], request.target)
      }
      let head = "HTTP/1.1 \(request.method == "POST" ? "201 Created" : "302 Found")\r\nContent-Length: 0\r\nLocation: "
      return .raw(bytes: head.utf8 + place + "\r\n\r\n".utf8)
    }
    let target = "/caf%E9%83A?%C3%A9"
    let url = server.url + "/caf%e9%83%41?%c3%a9"
    if isPost {
      expectSuccess(try await scratch.cachectl("fetch", "url", url))
      expectSuccess(try await scratch.cachectl("fetch", "url", server.url + "/from", "--data", "x"))
      expectFailure(try await scratch.cachectl("show", url), status: 66)
    } else {
      #expect(try await scratch.cachectl("fetch", "url", server.url + "/from").text == target)
      #expect(try await scratch.cachectl("show", url, "--raw").text == target)
    }
  }

  @Test(arguments: ["/a", "/b"]) func twoLocationsAreAnError(second: String) async throws {
    let server = try TestServer { request in
      request.path == "/"
        ? .raw("HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: \(second)\r\n\r\n") : TestResponse("x")
    }
    let run = try await Scratch().cachectl("fetch", "url", server.url)
    expectFailure(run, status: 69, mentioning: ["more than one Location"])
    #expect(server.count == 1)
  }

  /// The server is a proxy, which gets the name in the request line.
  @Test func aNameNeedNotBeASCII() async throws {
    let scratch = try Scratch()
    let server = try TestServer { request in
      request.target == "http://xn--bcher-kva.example/"
        ? TestResponse(status: 301, fields: ["Location": "http://日本語.example/x"])
        : TestResponse(fields: ["Cache-Control": "max-age=600"], request.target)
    }
    let run = try await scratch.cachectl("fetch", "url", "http://Bücher.example", "-x", server.url)
    #expect(run.text == "http://xn--wgv71a119e.example/x", "\(run.errors)")
    #expect(try await scratch.cachectl("show", "HTTP://日本語。example/%78", "--raw").text == run.text)
    let cities = ["kind=http", "baseURL=HTTP://Bücher.example/c"].flatMap { ["--set", "origin.cities.\($0)"] }
    _ = try await scratch.cachectl(cities + ["--set", "network.proxy=\(server.url)", "fetch", "cities"])
    #expect(server.requests.last?.path == "http://xn--bcher-kva.example/c")
    for wrong in ["http://localhost／evil/", "http://a＠b/", "http://\u{301}b/"] {
      expectFailure(try await scratch.cachectl("fetch", "url", wrong), status: 64, mentioning: ["not a URL"])
    }
  }

  @Test(arguments: ["ftp://example.com/", "https://", "http://a\\@b/", "http://a/\n"])
  func urlsThatAreNotOfAWebServerAreMistakes(url: String) async throws {
    let scratch = try Scratch()
    for command in [["show"], ["rm"]] {
      expectFailure(try await scratch.cachectl(command + [url]), status: 64, mentioning: ["not a URL"])
    }
  }

  @Test func aMistypedResourceIsNotTakenForAURL() async throws {
    expectFailure(try await Scratch().cachectl("explain", "citis"), status: 64, mentioning: ["citis", "cities"])
  }

  @Test func entriesMadeStaleAreRevalidatedAndServedIfTheOriginFails() async throws {
    let engine = "lmdb"
    let scratch = try Scratch()
    var server: TestServer? = try OriginSettings.cityServer()
    try scratch.configure(OriginSettings.cities(server?.url ?? ""))
    let fetch = ["--backend", engine, "fetch", "cities", "--output", "json"]
    expectSuccess(try await scratch.cachectl(fetch))
    let rm = ["--backend", engine, "rm", "--soft", "--match", "cities/*", "--output", "json"]
    #expect(try await scratch.cachectl(rm + ["--dry-run"]).document()["removed"] == 1)
    #expect(try await scratch.cachectl(fetch).document()["revalidated"] == false)
    for removed in [1, 0] as [JSON] { #expect(try await scratch.cachectl(rm).document()["removed"] == removed) }
    #expect(try await scratch.cachectl(fetch).document()["revalidated"] == true)
    #expect(server?.count == 2)
    expectSuccess(try await scratch.cachectl(rm))
    expectSuccess(try await scratch.cachectl("--backend", engine, "verify"))
    server = nil
    let alone = try await scratch.cachectl(fetch)
    #expect(try alone.document()["stale"] == true && alone.errors.contains("warning"), "\(alone.errors)")
  }

  @Test func theContentIsWrittenToAFile() async throws {
    let (scratch, server) = (try Scratch(), try server())
    let file = scratch.path("file")
    let run = try await scratch.cachectl("fetch", "url", server.url, "--out", file)
    #expect(run.status == 0 && run.output.isEmpty && run.errors.hasPrefix("HTTP 200"), "\(run.errors)")
    #expect(try scratch.read("file") == Data("none".utf8))
    let facts = try await scratch.cachectl("fetch", "url", server.url, "--out", file, "--output", "json", "--include")
    #expect(try facts.document()["bytes"] == 4)
    #expect(String(decoding: try scratch.read("file"), as: UTF8.self).hasPrefix("HTTP/1.1 200 OK\r\n"))
  }

  /// An existing file stays unchanged until the new one is complete.
  @Test func withoutAResponseTheFileIsNotChanged() async throws {
    let scratch = try Scratch()
    try scratch.write("before", to: "file")
    let command = ["fetch", "url", "http://127.0.0.1:1/", "--out", scratch.path("file")]
    expectFailure(try await scratch.cachectl(command), status: 69)
    #expect(try scratch.read("file") == Data("before".utf8))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: scratch.folder).filter { $0.hasPrefix("file") } == ["file"])
  }
}
