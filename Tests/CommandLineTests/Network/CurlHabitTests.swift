import Foundation
import TestOrigin
import Testing

/// `fetch URL` for somebody who types curl: the URL alone, options that only curl has, silence, failures and redirects.
@Suite struct CurlHabitTests {
  @Test func theWordURLCanBeLeftOut() async throws {
    let (scratch, server) = (try Scratch(), try TestServer { TestResponse($0.target) })
    #expect(try await scratch.cachectl("fetch", "\(server.url)/a").text == "/a")
    #expect(try await scratch.cachectl("fetch", "-fsSL", "\(server.url)/b").text == "/b")
    #expect(try await scratch.cachectl("fetch", "--", "\(server.url)/c").text == "/c")
    #expect(try await scratch.cachectl("fetch", "\(server.url)/d", "-o", "/dev/stdout").text == "/d")
    #expect(try await scratch.cachectl("fetch", "--request", "GET", "--url", "\(server.url)/e").text == "/e")
    #expect(try await scratch.cachectl("fetch", "--url=\(server.url)/f", "-sS").text == "/f")
    expectFailure(try await scratch.cachectl("fetch", "citis"), status: 64, mentioning: ["citis", "cities"])
    expectFailure(
      try await scratch.cachectl("fetch", "example.org"), status: 64, mentioning: ["example.org", "https:", "cities"])
    expectFailure(try await scratch.cachectl("fetch"), status: 64, mentioning: ["missing"])
  }

  /// An option that only curl has is an error that says what to do instead.
  @Test(arguments: [
    ("-r", "Range"), ("--range", "Range"), ("-F", "multipart"), ("-fsSLT", "--data-binary"), ("-U", "https_proxy"),
    ("-C", "by itself"), ("-c", "-b"), ("-n", "env"), ("-Z", "xargs"), ("--retry-delay", "Retry-After"),
  ])
  func anotherOptionOfCurlHasAHint(option: String, words: String) async throws {
    let scratch = try Scratch()
    let name = option.hasPrefix("--") ? option : "-\(option.suffix(1))"
    for arguments in [[option, "1", "http://a/"], ["http://a/", option, "1"], ["url", "http://a/", option]] {
      expectFailure(try await scratch.cachectl(["fetch"] + arguments), status: 64, mentioning: ["'\(name)'", words])
    }
    // It is not advice for other commands.
    let other = try await scratch.cachectl("ls", option)
    #expect(other.status == 64 && !other.errors.contains(words), "\(other.errors)")
  }

  @Test func silentMeansSilent() async throws {
    let (scratch, server) = (try Scratch(), try TestServer { _ in TestResponse("hi") })
    for options in [["-s"], ["-fsSL"], ["--silent"], ["-q"]] {
      let run = try await scratch.cachectl(["fetch", "\(server.url)/", "-o", "file"] + options)
      #expect(run.status == 0 && run.errors.isEmpty && run.text.isEmpty, "\(run.errors)")
      let failing = try await scratch.cachectl(["fetch", "http://a.invalid/"] + options)
      #expect(failing.status == 69 && failing.errors.contains("a.invalid"), "\(failing.errors)")
    }
    #expect(try await scratch.cachectl("fetch", "\(server.url)/", "-o", "file").errors.hasPrefix("HTTP 200"))
  }

  /// `--fail` prints no content, `--fail-with-body` all; either way the format is printed, and the head is written.
  @Test(arguments: [("-f", ""), ("--fail", ""), ("--fail-with-body", "gone"), ("-i", nil)] as [(String, String?)])
  func aFailureIsAnExitCode(option: String, text: String?) async throws {
    let scratch = try Scratch()
    let server = try TestServer { _ in TestResponse(status: 404, "gone") }
    let run = try await scratch.cachectl("fetch", "\(server.url)/", option, "-w", "|%{http_code}", "-D", "head")
    #expect(String(decoding: try scratch.read("work/head"), as: UTF8.self).hasPrefix("HTTP/1.1 404"))
    guard let text else { return expectSuccess(run) }
    #expect(run.status == 66 && run.text == "\(text)|404" && run.errors.contains("404"), "\(run.errors)")
  }

  /// A response to a GET with content is neither stored nor served from the cache.
  @Test func aGETWithContentBypassesTheCache() async throws {
    let scratch = try Scratch()
    let server = try TestServer { request in
      TestResponse(fields: ["Cache-Control": "max-age=600"], String(decoding: request.body, as: UTF8.self))
    }
    for text in ["", "a", "b", ""] {
      let content = text.isEmpty ? [] : ["-XGET", "-d", text]
      #expect(try await scratch.cachectl(["fetch", "\(server.url)/"] + content).text == text)
    }
    #expect(server.count == 3)
    let explained = try await scratch.cachectl("explain", "\(server.url)/", "-XGET", "-d", "a")
    #expect(explained.text.contains("the request has content"), "\(explained.text)")
  }

  @Test(
    arguments: [
      ("/plain", [], "no Location"), ("/to/ftp://a/", [], "neither http nor https"),
      ("/to//b", ["-X", "PUT"], "only a GET or HEAD"), ("/to//b", ["--max-redirs", "0"], nil),
    ] as [(String, [String], String?)])
  func aRedirectThatIsNotFollowedHasItsReason(path: String, options: [String], words: String?) async throws {
    let server = try TestServer { request in
      let location = request.path.hasPrefix("/to/") ? ["Location": String(request.path.dropFirst(4))] : TestFields()
      return TestResponse(status: 302, fields: location, "moved")
    }
    let run = try await Scratch().cachectl(["fetch", server.url + path] + options)
    #expect(run.status == 0 && run.text == "moved" && server.count == 1)
    if let words { #expect(run.errors.contains(words), "\(run.errors)") } else { #expect(run.errors.isEmpty) }
  }

  /// The cache's own 504 (RFC 9111, section 5.2.1.7) is no response of the server.
  @Test(arguments: [[], ["-i"], ["-f"], ["--output", "json"]])
  func onlyIfCachedWithoutAnEntryIsNotFound(options: [String]) async throws {
    let (scratch, server) = (try Scratch(), try TestServer { _ in TestResponse(status: 504, "busy") })
    let command = ["fetch", "\(server.url)/", "-H", "Cache-Control: only-if-cached"] + options
    let run = try await scratch.cachectl(command)
    expectFailure(run, status: 66, mentioning: ["not in the cache", "no request was sent"])
    #expect(server.count == 0 && run.text.isEmpty)
    #expect(try await scratch.cachectl("fetch", "\(server.url)/").text == "busy")
  }

  @Test func theDocumentSaysWhetherTheResponseIsStored() async throws {
    let scratch = try Scratch()
    let server = try TestServer { request in
      TestResponse(fields: ["Cache-Control": request.path == "/a" ? "max-age=600" : "no-store"], "hi")
    }
    for (path, isStored) in [("/a", true), ("/b", false)] {
      let document = try await scratch.cachectl("fetch", server.url + path, "--output", "json").document()
      #expect(document["stored"] == .boolean(isStored) && (document["storedAt"] != .null) == isStored)
    }
  }

  /// The document follows the content, which ends after the cache has tried to store it.
  @Test func aResponseThatTheStoreRefusesIsNotStored() async throws {
    let scratch = try Scratch()
    let content = TestBody.repeated([0x78], count: 200_000)
    let server = try TestServer { _ in
      TestResponse(fields: ["Cache-Control": "max-age=600"], body: content).chunked(1 << 16)
    }
    expectSuccess(try await scratch.cachectl("fetch", "cities"))
    let limits = ["--set", "cache.maxEntries=1", "--set", "cache.eviction=none"]
    let run = try await scratch.cachectl(["fetch", server.url, "--output", "json"] + limits)
    let document = try run.document()
    #expect(run.status == 0 && run.errors.contains("there is no room"), "\(run.errors)")
    #expect(document["stored"] == false && document["storedAt"] == .null)
  }

  @Test func mistakesAreNamed() async throws {
    let (scratch, server) = (try Scratch(), try TestServer { _ in TestResponse("hi") })
    for (arguments, mention) in [
      (["--json", "{}", "-d", "a"], "--json"), (["-O", "-o", "x"], "--remote-name"), (["-O"], "--remote-name"),
      (["-I", "-d", "a"], "--head"), (["-G", "--json", "{}"], "--json"), (["-d", "@"], "empty"),
      (["-X", "HEAD", "-d", "a"], "HEAD"), (["--url", "http://a/"], "--url"), (["-4", "-6"], "--ipv6"), (["-5"], "-5"),
      (["-f", "--fail-with-body"], "--fail-with-body"), (["-m", "-1"], "seconds"), (["-m", "soon"], "seconds"),
      (["--connect-timeout", "-1"], "seconds"), (["-w", "%{size_download}"], "%{http_code}"),
      (["-w", "@format"], "--output json"), (["--output", "x.json"], "-o FILE"), (["--output=x.json"], "-o FILE"),
      (["--output=x"], "table, json"),
    ] {
      let run = try await scratch.cachectl(["fetch", "\(server.url)/"] + arguments)
      expectFailure(run, status: 64, mentioning: [mention])
    }
    #expect(server.count == 0)
  }
}
