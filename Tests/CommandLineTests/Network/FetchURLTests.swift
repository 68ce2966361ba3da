import Foundation
import Synchronization
import TestOrigin
import Testing

/// `fetch url`: the response that curl gives, from the cache if HTTP allows it.
@Suite struct FetchURLTests {
  private static let fresh: TestFields = ["Cache-Control": "max-age=600"]
  private static let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 3) }

  @Test func bytesComeThroughUnchanged() async throws {
    let engine = "plist"
    let (scratch, body) = (try Scratch(), TestBody.bytes(Self.bytes))
    let server = try TestServer { request in
      let response = TestResponse(fields: Self.fresh, body: body)
      return request.path == "/gzip" ? response.gzipped() : request.path == "/chunks" ? response.chunked() : response
    }
    for path in ["/plain", "/gzip", "/chunks"] {
      for _ in 1...2 {
        let run = try await scratch.cachectl("--backend", engine, "fetch", "url", server.url + path)
        expectSuccess(run)
        let sent = path == "/gzip" ? Gzip.compress(Self.bytes) : Self.bytes
        #expect(run.output == Data(sent) && run.errors.isEmpty, "\(path): \(run.errors)")
      }
    }
    #expect(server.count == 3)
    #expect(server.requests.allSatisfy { $0.fields["Accept-Encoding"] == nil })
  }

  /// Valid HTTP that not every client takes.
  @Test(arguments: [
    "HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
    "HTTP/1.1 200 OK\r\nContent-Length:5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nContent-Encoding: zip\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 302 Found\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n",
    "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.0 200 OK\r\n\r\nhello",
  ])
  func everyValidMessageIsAResponse(bytes: String) async throws {
    let server = try TestServer(script: [.raw(bytes)])
    let run = try await Scratch().cachectl("fetch", "url", server.url)
    expectSuccess(run)
    #expect(run.text == "hello")
  }

  /// The request has only the fields that the caller gave: no language, for example.
  @Test func theRequestHasNoAdditionalFields() async throws {
    let server = try TestServer(script: [TestResponse("hello")])
    let url = "http://127.1:\(server.port)/"
    #expect(try await Scratch().cachectl("fetch", "url", url, "-H", "x-A: 1").text == "hello")
    #expect(server.requests.first?.fields.lines.map(\.name) == ["Host", "x-A", "User-Agent"])
  }

  /// As curl prints them; a response from the cache has none.
  @Test(arguments: [false, true])
  func interimResponsesAndTrailersArePrintedWithTheHead(isLarge: Bool) async throws {
    let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    let content = String(repeating: "x", count: isLarge ? 0x20000 : 5)
    let rest = "\(String(content.utf8.count, radix: 16))\r\n\(content)\r\n0\r\nX-Sum: 1\r\n\r\n"
    let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=86400\r\nTransfer-Encoding: chunked\r\n\r\n"
    let server = try TestServer(script: [.raw(hints + head + rest)])
    let scratch = try Scratch()
    let command = ["--set", "cache.maxEntryBytes=64KiB", "fetch", "url", "-i", server.url]
    for number in 1...2 {
      let isFromOrigin = isLarge || number == 1
      let text = try await scratch.cachectl(command).text
      #expect(text.hasPrefix(hints) == isFromOrigin)
      #expect(text.hasSuffix(isFromOrigin ? "\r\n\r\n\(content)X-Sum: 1\r\n" : "\r\n\r\n\(content)"))
    }
    expectSuccess(try await scratch.cachectl(command + ["--refresh", "-o", scratch.path("work/answer")]))
    let file = String(decoding: try scratch.read("work/answer"), as: UTF8.self)
    #expect(file.hasPrefix(hints) && file.hasSuffix("\(content)X-Sum: 1\r\n"))
  }

  @Test func addressesOfIPv6() async throws {
    let server = try TestServer(hasIPv6: true) { _ in TestResponse("hello") }
    #expect(try await Scratch().cachectl("fetch", "url", server.url).text == "hello")
  }

  @Test func headerFieldsAreNotChanged() async throws {
    let status = "HTTP/1.1 200 O".utf8 + [0x9B, 0xE9] + " \u{9B}\r\n".utf8
    let lines = status + "B: 1\r\na: 2\r\nB: 3\r\nX: caf".utf8 + [0xE9] + "\r\nCache-Control: max-age=600\r\n".utf8
    let server = try TestServer(
      script: [.raw(bytes: lines + "Content-Length: 0\r\n\r\n".utf8)])
    let scratch = try Scratch()
    for _ in 1...2 {
      let run = try await scratch.cachectl("fetch", "url", server.url, "--include")
      #expect(run.output.range(of: Data(lines)) != nil, "\(run.output as NSData)")
    }
    #expect(server.count == 1)
  }

  /// A hit needs no network, and loads no library for it: the dynamic linker writes its actions to a file for each
  /// process.
  @Test func theNetworkIsLoadedWithTheFirstRequest() async throws {
    let (scratch, server) = (try Scratch(), try TestServer(script: [TestResponse(fields: Self.fresh, "hello")]))
    for name in ["miss", "hit"] {
      let variables = ["LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": scratch.path("streams/\(name)")]
      expectSuccess(try await scratch.cachectl("fetch", "url", server.url, environment: variables))
      let file = try #require(scratch.names(below: "streams").first { $0.hasPrefix("\(name).") })
      let libraries = String(decoding: try scratch.read("streams/\(file)"), as: UTF8.self)
      #expect(libraries.contains("libc.so"))
      #expect(libraries.contains("libcurl") == (name == "miss"))
      #expect(name == "miss" || !libraries.contains("libidn2"))
    }
    #expect(server.count == 1)
  }

  @Test func certificatesThatTheEnvironmentNamesAreTrusted() async throws {
    let (scratch, server) = (try Scratch(), try SelfSignedServer())
    expectFailure(try await scratch.cachectl("fetch", "url", server.url), status: 69, mentioning: ["certificate"])
    expectSuccess(
      try await scratch.cachectl(
        "fetch", "url", server.url, environment: ["SSL_CERT_FILE": server.certificateFile]))
    let missing = ["SSL_CERT_FILE": scratch.path("none")]
    expectFailure(
      try await scratch.cachectl("fetch", "url", server.url, "--refresh", environment: missing), status: 78,
      mentioning: [scratch.path("none"), "SSL_CERT_FILE"])
  }

  @Test func includePrintsTheHeadWithAgeAndCacheStatus() async throws {
    let scratch = try Scratch()
    let server = try TestServer(script: [TestResponse(status: 200, fields: Self.fresh, "hello")])
    let command = ["fetch", "url", server.url, "--include"]
    let first = try await scratch.cachectl(command).text
    #expect(first.hasPrefix("HTTP/1.1 200 OK\r\n") && first.hasSuffix("\r\n\r\nhello"))
    #expect(first.contains("\r\nCache-Status: cachectl; fwd=uri-miss; fwd-status=200; stored; ttl="))
    let second = try await scratch.cachectl(command).text
    #expect(second.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(
      second.contains(/\r\nAge: \d+\r\n/) && second.contains("\r\nCache-Status: cachectl; hit; ttl="), "\(second)")
    #expect(server.count == 1)
  }

  @Test func variantsAreKeptApart() async throws {
    let engine = "sqlite"
    let scratch = try Scratch()
    let server = try TestServer { request in
      TestResponse(
        fields: Self.fresh.replacing(with: ["Vary": "Accept-Language"]), request.fields["Accept-Language"] ?? "none")
    }
    for _ in 1...2 {
      for language in ["fr", "de"] {
        let run = try await scratch.cachectl(
          "--backend", engine, "fetch", "url", server.url, "--header", "Accept-Language: \(language)")
        #expect(run.text == language)
      }
    }
    #expect(server.count == 2)
  }

  @Test func aChangeMakesTheEntryInvalid() async throws {
    let engine = "lmdb"
    let (scratch, server) = (try Scratch(), try TestServer { TestResponse(fields: Self.fresh, $0.method) })
    let command = ["--backend", engine, "fetch", "url", "\(server.url)/items"]
    expectSuccess(try await scratch.cachectl(command))
    let post = try await scratch.cachectl(command + ["--data", "a=1"])
    #expect(post.text == "POST")
    #expect(server.requests.last?.body == Array("a=1".utf8))
    #expect(try await scratch.cachectl(command).text == "GET")
    #expect(server.requests.map(\.method) == ["GET", "POST", "GET"])
  }

  @Test func contentIsReadFromAFileOrAPipe() async throws {
    let (scratch, server) = (try Scratch(), try TestServer { TestResponse(fields: Self.fresh, $0.method) })
    try scratch.write("from a file", to: "work/file")
    expectSuccess(try await scratch.cachectl("fetch", "url", server.url, "--data", "@\(scratch.path("work/file"))"))
    #expect(server.requests.last?.body == Array("from a file".utf8))
    let pipe = scratch.path("work/pipe")
    let made = try await scratch.run("/usr/bin/mkfifo", [pipe])
    #expect(made.status == 0)
    async let posted = scratch.cachectl("fetch", "url", server.url, "--data-binary", "@\(pipe)")
    let written = try await scratch.run("/bin/sh", ["-c", "printf 'from a pipe' > \(pipe)"])
    #expect(written.status == 0)
    expectSuccess(try await posted)
    #expect(server.requests.last?.body == Array("from a pipe".utf8))
    let missing = try await scratch.cachectl("fetch", "url", server.url, "--data", "@\(scratch.path("work/none"))")
    expectFailure(missing, status: 74, mentioning: ["work/none"])
    let folder = try await scratch.cachectl("fetch", "url", server.url, "--data", "@\(scratch.path("work"))")
    expectFailure(folder, status: 74, mentioning: ["directory"])
    #expect(server.count == 2)
  }

  /// It is sent while it is read, whatever its size.
  @Test func largeContentIsSentCompletely() async throws {
    let (scratch, server) = (try Scratch(), try TestServer { TestResponse("\($0.body.count)") })
    try scratch.write(String(repeating: "0123456789abcdef", count: 1 << 18), to: "work/large")
    let run = try await scratch.cachectl("fetch", "url", server.url, "--data-binary", "@\(scratch.path("work/large"))")
    #expect(run.text == "\(1 << 22)")
    #expect(server.requests.first?.fields["Content-Length"] == "\(1 << 22)")
  }

  /// A response that is too large for the store is passed on, and an older stored response is removed.
  @Test(arguments: [(1 << 19, "64KiB", true), (1 << 19, "64KiB", false), (5_008, "1KiB", true), (5_008, "1KiB", false)])
  func aResponseThatIsTooLargeIsPassedOn(bytes: Int, limit: String, hasLength: Bool) async throws {
    let content = Array(String(repeating: "0123456789abcdef", count: bytes / 16).utf8)
    let scratch = try Scratch()
    let server = try TestServer { request in
      if request.fields["X-Small"] != nil { return TestResponse(fields: Self.fresh, "small") }
      let response = TestResponse(fields: Self.fresh, body: .bytes(content))
      return hasLength ? response : response.chunked(10_000)
    }
    let command = ["--set", "cache.maxEntryBytes=\(limit)", "fetch", "url", server.url]
    expectSuccess(try await scratch.cachectl(command + ["-H", "X-Small: 1"]))
    let run = try await scratch.cachectl(command + ["--refresh"])
    #expect(run.status == 0 && run.output == Data(content))
    #expect(run.errors.contains("maxEntryBytes"), "\(run.errors)")
    let file = scratch.path("work/answer")
    let written = try await scratch.cachectl(command + ["-i", "-o", file, "--require-store"])
    #expect(written.status == 74 && written.errors.contains("--require-store"), "\(written.errors)")
    let data = try Data(contentsOf: URL(fileURLWithPath: file))
    #expect(data.suffix(content.count) == Data(content) && data.starts(with: Data("HTTP/1.1 200".utf8)))
    #expect(server.count == 3)
  }

  /// The response is printed all the same.
  @Test(
    arguments: [
      ([], "no-store", "no-store"), (["-d", "a=1"], "max-age=60", "the method is POST"), ([], "max-age=60", nil),
    ] as [([String], String, String?)])
  func aResponseThatMustBeKeptAndCannotIsAnError(options: [String], control: String, reason: String?) async throws {
    let server = try TestServer { _ in TestResponse(fields: ["Cache-Control": control], "hello") }
    let run = try await Scratch().cachectl(["fetch", "url", server.url, "--require-store"] + options)
    #expect(run.text == "hello" && run.status == (reason == nil ? 0 : 74))
    let message = "cachectl: the response is not stored (\(reason ?? "")), but --require-store demands it\n"
    #expect(run.errors.hasPrefix(message) == (reason != nil), "\(run.errors)")
  }

  /// The store refuses it only once it is complete.
  @Test func aResponseThatTheStoreRefusesIsNotCalledStored() async throws {
    let server = try TestServer { _ in
      TestResponse(fields: Self.fresh, body: .bytes(Array(repeating: 0x61, count: 100_000)))
    }
    let scratch = try Scratch()
    let run = try await scratch.cachectl(
      "--set", "cache.maxBytes=80KiB", "fetch", "-o", scratch.path("copy"), server.url)
    #expect(run.status == 0 && run.errors.contains("from the origin, not stored\n"), "\(run.errors)")
  }

  /// Many servers read only content of an announced length.
  @Test func contentFromAPipeHasALength() async throws {
    let lengths = Mutex<[String?]>([])
    let server = try TestServer { request in
      lengths.withLock { $0.append(request.fields["Content-Length"]) }
      return TestResponse("hello")
    }
    for option in ["--json", "--data-binary", "-d"] {
      let line = #"printf '{"a":1}' | "$0" fetch "$1" @- "$2""#
      expectSuccess(try await Scratch().run("/bin/sh", ["-c", line, Binary.path, option, server.url]))
    }
    #expect(lengths.withLock { $0 } == ["7", "7", "7"])
  }

  @Test func aFileThatCannotBeWrittenIsAFailureOfTheOutput() async throws {
    let (scratch, server) = (try Scratch(), try TestServer { _ in TestResponse("hello") })
    let file = scratch.path("none/file")
    for command in [["url", server.url], ["poster", "/2201.png"]] {
      let run = try await scratch.cachectl(["fetch"] + command + ["--out", file])
      expectFailure(run, status: 74, mentioning: ["\(file) cannot be written"])
    }
  }

  /// The message has the URL that the user typed.
  @Test func aURLThatIsNotInTheCacheIsNamed() async throws {
    let scratch = try Scratch()
    let missing = try await scratch.cachectl("fetch", "url", "http://a.invalid/b?c=d", "--offline")
    expectFailure(missing, status: 66, mentioning: ["http://a.invalid/b?c=d is not in the cache"])
    let fields: TestFields = ["Cache-Control": "no-cache", "ETag": "\"1\""]
    let server = try TestServer { _ in TestResponse(fields: fields, "hello") }
    expectSuccess(try await scratch.cachectl("fetch", "url", server.url))
    let stale = try await scratch.cachectl("fetch", "url", server.url, "--offline")
    expectFailure(stale, status: 66, mentioning: ["\(server.url)/ cannot be used"])
    let large = try TestServer { _ in TestResponse(fields: Self.fresh, body: .bytes(Self.bytes)) }
    let warned = try await scratch.cachectl("--set", "cache.maxBytes=1KiB", "fetch", "url", large.url)
    #expect(warned.errors.contains("entry \(large.url)/ has 10000 bytes"), "\(warned.errors)")
  }

  /// The second process waits for the response to the first, which waits as long as a busy machine needs.
  @Test func theTimeIsForAllThatAFetchWaitsFor() async throws {
    let (scratch, gate) = (try Scratch(), try TestGate())
    let server = try TestServer(script: [TestResponse("late").held(by: gate)])
    async let first = scratch.cachectl("fetch", "url", server.url, "--max-time", "600")
    await server.received(1)
    let second = try await scratch.cachectl("fetch", "url", server.url, "--max-time", "0.3")
    expectFailure(second, status: 69, mentioning: ["0.3 seconds"])
    gate.open()
    expectSuccess(try await first)
    #expect(server.count == 1)
  }

  /// The content that it speaks of does not come.
  @Test func theHeadOfALargeResponseIsComplete() async throws {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n"
    let server = try TestServer(script: [.raw(head)])
    let run = try await Scratch().cachectl("fetch", "url", "-I", server.url)
    expectSuccess(run)
    #expect(run.text.contains("Content-Length: 99999999\r\n"))
  }

  @Test(arguments: [true, false])
  func aBrokenResponseLeavesNoFile(isLarge: Bool) async throws {
    let (scratch, size) = (try Scratch(), isLarge ? 200_000 : 1_000)
    let head = "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"
    let server = try TestServer(script: [.raw(head + String(repeating: "x", count: size / 2))])
    let run = try await scratch.cachectl(
      "--set", "cache.maxEntryBytes=64KiB", "fetch", "url", server.url, "--out", scratch.path("work/answer"))
    #expect(run.status == 69 && run.errors.contains("broke off"), "\(run.errors)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path("work")).isEmpty)
  }

  @Test(arguments: [(401, 77), (403, 77), (404, 66), (410, 66), (418, 69), (500, 69), (304, 69)] as [(Int, Int32)])
  func withFailAStatusIsAnExitStatus(status: Int, exit: Int32) async throws {
    let server = try TestServer(script: [TestResponse(status: status, status == 304 ? "" : "hello")])
    let run = try await Scratch().cachectl("fetch", "url", server.url, "--fail")
    #expect(run.status == exit && run.text.isEmpty, "\(run.errors)")
  }

  @Test func theOptionsOfCurlAreKnown() async throws {
    let scratch = try Scratch()
    let server = try TestServer { request in
      request.path == "/a" ? .redirect(to: "/b") : TestResponse("\(request.method) \(request.fields["X-A"] ?? "")")
    }
    #expect(try await scratch.cachectl("fetch", "url", "-X", "PUT", "-H", "X-A: 1", server.url).text == "PUT 1")
    #expect(try await scratch.cachectl("fetch", "url", server.url, "-d", "a=1", "-d", "b=2").text == "POST ")
    #expect(server.requests.last?.body == Array("a=1&b=2".utf8))
    let head = try await scratch.cachectl("fetch", "url", "-I", server.url)
    #expect(head.text.hasPrefix("HTTP/1.1 200") && server.requests.last?.method == "HEAD")
    let redirect = try await scratch.cachectl("fetch", "url", "\(server.url)/a", "--max-redirects", "0", "-i")
    #expect(redirect.text.hasPrefix("HTTP/1.1 302") && server.requests.last?.path == "/a" && redirect.errors.isEmpty)
    let unfollowed = try await scratch.cachectl("fetch", "url", "\(server.url)/a", "-X", "PUT")
    #expect(unfollowed.status == 0 && unfollowed.errors.contains("not followed"), "\(unfollowed.errors)")
    let silent = try TestServer(script: [TestResponse("never").held(by: try TestGate())])
    let late = try await scratch.cachectl("fetch", "url", silent.url, "-m", "0.2")
    expectFailure(late, status: 69, mentioning: ["within 0.2 seconds"])
  }

  @Test(arguments: ["\"1\"", "\"2\""])
  func aHeadTellsWhetherTheEntryIsOutdated(tag: String) async throws {
    let scratch = try Scratch()
    let server = try TestServer { request in
      let fields = Self.fresh.replacing(with: ["ETag": request.method == "HEAD" ? tag : "\"1\""])
      return TestResponse(fields: fields, "hello")
    }
    let command = ["fetch", "url", server.url]
    expectSuccess(try await scratch.cachectl(command))
    let head = try await scratch.cachectl(command + ["--method", "HEAD", "--include"])
    #expect(head.text.contains("; hit; ") && server.count == 1)
    expectSuccess(try await scratch.cachectl(command + ["--method", "HEAD", "--max-age", "0s"]))
    expectSuccess(try await scratch.cachectl(command))
    #expect(server.requests.map(\.method) == (tag == "\"1\"" ? ["GET", "HEAD"] : ["GET", "HEAD", "GET"]))
  }

  @Test func redirectsAreFollowedButNotInCircles() async throws {
    let scratch = try Scratch()
    let server = try TestServer { request in
      switch request.path {
      case "/end": TestResponse(fields: Self.fresh, "end")
      case "/loop": .redirect(to: "/loop")
      default: .redirect(to: "/end", status: 308, fields: Self.fresh)
      }
    }
    for _ in 1...2 { #expect(try await scratch.cachectl("fetch", "url", "\(server.url)/start").text == "end") }
    #expect(server.requests.map(\.path) == ["/start", "/end"])
    expectFailure(
      try await scratch.cachectl("fetch", "url", "\(server.url)/loop"), status: 69, mentioning: ["redirects"])
  }

  @Test func credentialsAreSentToTheirServerOnly() async throws {
    let scratch = try Scratch()
    let other = try TestServer(script: [TestResponse(fields: Self.fresh, "other")])
    let server = try TestServer(script: [.redirect(to: "\(other.url)/")])
    let run = try await scratch.cachectl(
      "fetch", "url", server.url, "--header", "Authorization: Bearer t0ken", "--header", "X-Kept: 1")
    #expect(run.text == "other")
    #expect(server.requests.first?.fields["Authorization"] == "Bearer t0ken")
    #expect(other.requests.map { $0.fields["Authorization"] } == [nil] && other.requests.first?.fields["X-Kept"] == "1")
  }
}
