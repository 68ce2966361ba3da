import Foundation
import FoundationNetworking
import ResponseCacheURLSession
import TestOrigin
import Testing

/// Features that remain the session's own.
@Suite(.timeLimit(.minutes(10))) struct SessionTests {
  private static let fresh: TestFields = ["Cache-Control": "max-age=60"]

  @Test func redirectionsAreFollowedEachByItsOwnRules() async throws {
    let bench = try await Bench()
    let server = try TestServer { request in
      switch request.path {
      case "/a": .redirect(to: "/b", status: 301, fields: Self.fresh)
      case "/b": .redirect(to: "/c", fields: ["Cache-Control": "no-store"])
      case "/c": TestResponse(fields: Self.fresh, "hi")
      default: .redirect(to: request.path)
      }
    }
    let session = bench.session()
    for _ in 1...2 {
      let answer = try await session.get(server.url + "/a")
      #expect(answer.text == "hi" && answer.url == server.url + "/c")
    }
    #expect(server.requests.map(\.path) == ["/a", "/b", "/c", "/b"])
    #expect(await session.failure(server.url + "/loop") == .httpTooManyRedirects)
  }

  /// It is not followed, and is the response.
  @Test func aRedirectionToAnotherProtocolIsTheResponse() async throws {
    let (bench, server) = (try await Bench(), try TestServer(script: [.redirect(to: "ftp://127.0.0.1:1/")]))
    let answer = try await bench.session().get(server.url)
    #expect(answer.status == 302 && answer.fields["location"] == "ftp://127.0.0.1:1/")
  }

  @Test func theCookiesOfTheSessionAreUsed() async throws {
    let bench = try await Bench()
    let server = try TestServer { request in
      TestResponse(fields: ["Set-Cookie": "a=1; Path=/"], request.fields["Cookie"] ?? "none")
    }
    let session = bench.session()
    #expect(try await session.get(server.url).text == "none")
    #expect(try await session.get(server.url).text == "a=1")
    #expect(try await bench.session().get(server.url).text == "none")
    let storage = try #require(session.configuration.httpCookieStorage)
    #expect(storage.cookies(for: try #require(URL(string: server.url)))?.map(\.name) == ["a"])
  }

  @Test(arguments: ["Cookie", "Accept"]) func cookiesSelectAmongResponses(vary: String) async throws {
    let bench = try await Bench()
    let server = try TestServer { Self.varied(by: vary, $0) }
    let session = bench.session()
    for who in ["ann", "bob", nil, "ann", "bob", nil] {
      try session.setCookie(who, for: server.url)
      #expect(try await session.get(server.url).text == (who.map { "who=\($0)" } ?? "none"))
    }
    #expect(server.requests.map { $0.fields["Cookie"] } == ["who=ann", "who=bob", nil])
  }

  /// A stored redirection on the way is selected by the cookies for its own URL, which the first server's are not.
  @Test func cookiesSelectAmongRedirections() async throws {
    let bench = try await Bench()
    let server = try TestServer { request in
      switch request.path {
      case "/first": return .redirect(to: "http://127.0.0.1:\(request.fields["X-Port"] ?? "")/second")
      case "/second":
        let path = request.fields["Cookie"] == nil ? "/none" : "/some"
        return .redirect(to: path, fields: Self.fresh.replacing(with: ["Vary": "Cookie"]))
      default: return TestResponse(fields: Self.fresh, request.path)
      }
    }
    let session = bench.session()
    #expect(try await session.get(server.url + "/second").text == "/none")
    try session.setCookie("ann", for: server.url)
    let first = "http://localhost:\(server.port)/first"
    for _ in 1...2 { #expect(try await session.get(first, fields: ["X-Port": "\(server.port)"]).text == "/some") }
    #expect(server.requests.map(\.path) == ["/second", "/none", "/first", "/second", "/some", "/first"])
    #expect(server.requests.map { $0.fields["Cookie"] } == [nil, nil, nil, "who=ann", "who=ann", nil])
  }

  /// A redirection that sets a cookie leads to the response for the new cookie, which is stored under it.
  @Test(arguments: [true, false]) func cookiesOfARedirectionSelectTheResponseOfItsTarget(isStored: Bool) async throws {
    let bench = try await Bench()
    let server = try TestServer { request in
      guard request.path == "/login" else { return Self.variedByCookie(request) }
      return .redirect(to: "/home", fields: ["Set-Cookie": "who=bob; Path=/"])
    }
    let session = bench.session()
    try session.setCookie("ann", for: server.url)
    if isStored { #expect(try await session.get(server.url + "/home").text == "who=ann") }
    #expect(try await session.get(server.url + "/login").text == "who=bob")
    #expect(try await session.get(server.url + "/home").text == "who=bob")
    let count = isStored ? 3 : 2
    #expect(server.count == count)
    try session.setCookie("ann", for: server.url)
    #expect(try await session.get(server.url + "/home").text == "who=ann")
    #expect(server.count == (isStored ? count : count + 1))
  }

  private static func variedByCookie(_ request: TestRequest) -> TestResponse { varied(by: "Cookie", request) }

  private static func varied(by name: String, _ request: TestRequest) -> TestResponse {
    TestResponse(fields: fresh.replacing(with: ["Vary": name]), request.fields["Cookie"] ?? "none")
  }

  /// Credentials in the field, or in the URL, select the responses stored for them.
  @Test func credentialsSelectAmongResponses() async throws {
    let bench = try await Bench()
    let server = try TestServer { TestResponse(fields: Self.fresh, $0.fields["Authorization"] ?? "none") }
    let session = bench.session()
    for _ in 1...2 {
      #expect(try await session.get(server.url).text == "none")
      #expect(try await session.get(server.url, fields: ["Authorization": "Bearer x"]).text == "Bearer x")
      #expect(
        try await session.get("http://u:p@127.0.0.1:\(server.port)").text
          == "Basic \(Data("u:p".utf8).base64EncodedString())")
    }
    #expect(server.count == 3)
  }

  /// A response to a request with credentials for a challenge does not come from the cache.
  @Test func theDelegateOfTheTaskGetsItsChallenges() async throws {
    let bench = try await Bench()
    let server = try TestServer { request in
      guard request.fields["Authorization"] != nil else {
        return TestResponse(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"a\""], "no")
      }
      return TestResponse(fields: Self.fresh, "secret")
    }
    for _ in 1...2 {
      let delegate = CollectingDelegate()
      let session = bench.session(delegate: delegate)
      session.dataTask(with: try #require(URL(string: server.url))).resume()
      let (status, content, error) = await delegate.end()
      #expect(status == 200 && content.suffix(6) == Data("secret".utf8) && error == nil)
      session.finishTasksAndInvalidate()
    }
    #expect(server.requests.count { $0.fields["Authorization"] == nil } == 2)
  }

  @Test(arguments: ["POST", "PUT", "DELETE"], ["data", "upload", "stream"])
  func unsafeRequestsBypassTheCacheAndEmptyIt(method: String, form: String) async throws {
    let bench = try await Bench()
    let server = try TestServer { TestResponse(fields: Self.fresh, String(decoding: $0.body, as: UTF8.self)) }
    let session = bench.session()
    _ = try await session.get(server.url)
    #expect(try await session.get(server.url).isHit)
    var request = URLRequest(url: try #require(URL(string: server.url)))
    request.httpMethod = method
    let content = Data("content".utf8)
    let (data, response): (Data, URLResponse)
    switch form {
    case "upload": (data, response) = try await session.upload(for: request, from: content)
    case "stream":
      request.httpBodyStream = InputStream(data: content)
      (data, response) = try await session.data(for: request)
    default:
      request.httpBody = content
      (data, response) = try await session.data(for: request)
    }
    let answer = Answer(data, response)
    #expect(answer.status == 200 && answer.text == "content" && answer.fields["cache-status"] == nil)
    #expect(server.requests.map(\.method) == ["GET", method])
    _ = try await session.get(server.url)
    #expect(server.count == 3)
  }

  /// The stored response is removed, whatever the result of the following redirection.
  @Test(arguments: [200, 404, 500, nil], [true, false])
  func aResponseToAnUnsafeRequestEmptiesTheCache(status: Int?, isRedirected: Bool) async throws {
    let response = status.map { TestResponse(status: $0, "hi") } ?? .hangUp
    let bench = try await Bench()
    let server = try TestServer { request in
      if request.method == "POST", isRedirected { return .redirect(to: "/items/1", status: 303) }
      return request.method == "POST" || request.path == "/items/1"
        ? response : TestResponse(fields: Self.fresh, "list")
    }
    let session = bench.session()
    _ = try await session.get(server.url + "/items")
    let answer = try? await session.get(server.url + "/items", method: "POST", content: Data("content".utf8))
    #expect(answer?.status == status)
    // A server that never responded may have done nothing.
    let isKept = status == nil && !isRedirected
    #expect(try await session.get(server.url + "/items").isHit == isKept)
  }

  @Test func downloadsComePastTheCache() async throws {
    let (bench, server) = (try await Bench(), try TestServer { _ in TestResponse(fields: Self.fresh, "hi") })
    let url = try #require(URL(string: server.url))
    for _ in 1...2 {
      let (file, _) = try await bench.session().download(from: url)
      defer { try? FileManager.default.removeItem(at: file) }
      #expect(try Data(contentsOf: file) == Data("hi".utf8))
    }
    #expect(server.count == 2)
  }

  @Test func aCancelledTaskEndsItsTransfer() async throws {
    let bench = try await Bench()
    let server = try TestServer(script: [TestResponse("never").held(by: try TestGate())])
    let session = bench.session()
    let task = Task { await session.failure(server.url) }
    await server.received(1)
    task.cancel()
    #expect(await task.value == .cancelled)
    await server.abandoned(1)
    // The session works on.
    server.override(TestResponse("hi"))
    #expect(try await session.get(server.url + "/b").text == "hi")
  }

  /// Tasks that are cancelled at any moment of their lives end in one of two ways, and disturb no other.
  @Test(arguments: ["GET", "POST"]) func manyCancelledTasks(method: String) async throws {
    let (bench, server) = (try await Bench(maxEntryBytes: 100), try TestServer { TestResponse($0.path) })
    let session = bench.session()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        // Every third is too large to be kept.
        let path = "/\(number)" + String(repeating: "x", count: number % 3 == 0 ? 200 : 0)
        group.addTask {
          let task = Task { try await session.get(server.url + path, method: method).text }
          if number.isMultiple(of: 2) {
            for _ in 0..<number { await Task.yield() }
            task.cancel()
          }
          switch await task.result {
          case .success(let text): #expect(text == path)
          case .failure(let error):
            #expect((error as? URLError)?.code == .cancelled && number.isMultiple(of: 2), "\(error)")
          }
        }
      }
    }
    #expect(try await session.get(server.url + "/last").text == "/last")
  }

  @Test func aSuspendedTaskGetsItsResponseWhenItIsResumed() async throws {
    let (bench, gate) = (try await Bench(), try TestGate())
    let server = try TestServer(script: [TestResponse("hi").held(by: gate)])
    let (ends, source) = AsyncStream.makeStream(of: Bool.self)
    let task = bench.session().dataTask(with: try #require(URL(string: server.url))) { data, _, _ in
      source.yield(data == Data("hi".utf8))
    }
    task.resume()
    await server.received(1)
    task.suspend()
    gate.open()
    #expect(task.state == .suspended)
    task.resume()
    for await isRight in ends {
      #expect(isRight)
      break
    }
  }

  @Test func theTimeoutsOfTheSessionAreUsed() async throws {
    let bench = try await Bench()
    let server = try TestServer(script: [TestResponse("never").held(by: try TestGate())])
    let session = bench.session { $0.timeoutIntervalForRequest = 1 }
    #expect(await session.failure(server.url) == .timedOut)
    await server.abandoned(1)
  }
}
