import Foundation
import FoundationNetworking
import HTTPCaching
import CurlTransport
import ResponseCache
import ResponseCacheURLSession
import TestOrigin
import Testing

/// The responses that a session serves from the cache, and its requests.
@Suite(.timeLimit(.minutes(10))) struct CachingTests {
  private static let fresh: TestFields = ["Cache-Control": "max-age=60", "ETag": "\"1\"", "X-A": "b"]

  @Test func aFreshResponseNeedsNoServer() async throws {
    let (bench, server) = (try await Bench(), try TestServer { _ in TestResponse(fields: Self.fresh, "hi") })
    let session = bench.session()
    let first = try await session.get(server.url + "/a#b")
    #expect(first.status == 200 && first.text == "hi" && !first.isHit && first.url == server.url + "/a#b")
    bench.wait(59)
    let second = try await session.get(server.url + "/a")
    #expect(second.status == 200 && second.text == "hi" && second.isHit && second.fields["age"] == "59")
    #expect(second.fields["x-a"] == "b" && second.fields["content-type"] == first.fields["content-type"])
    #expect(server.count == 1)
    // Another session over the same cache.
    #expect(try await bench.session().get(server.url + "/a").isHit)
  }

  @Test func aStaleResponseIsConfirmed() async throws {
    let bench = try await Bench()
    let server = try TestServer { TestResponse(fields: Self.fresh, "hi").validated(for: $0) }
    let session = bench.session()
    _ = try await session.get(server.url)
    bench.wait(61)
    let confirmed = try await session.get(server.url)
    #expect(confirmed.status == 200 && confirmed.text == "hi")
    #expect(confirmed.fields["cache-status"]?.contains("fwd=stale; fwd-status=304") == true)
    #expect(server.requests.map { $0.fields["If-None-Match"] } == [nil, "\"1\""])
  }

  @Test func eachTaskThatTheCacheServesIsAnEvent() async throws {
    let bench = try await Bench(maxEntryBytes: 100)
    let server = try TestServer { request in
      if request.target == "/large" { return TestResponse(fields: Self.fresh, String(repeating: "x", count: 1_000)) }
      return TestResponse(fields: Self.fresh, "hi").validated(for: request)
    }
    let session = bench.session()
    for (path, seconds) in [("/", 0), ("/", 59), ("/", 2), ("/large", 0)] {
      bench.wait(seconds)
      _ = try await session.get(server.url + path)
    }
    _ = await session.failure(server.url + "/absent", .returnCacheDataDontLoad)
    #expect(bench.events.all == ["url fetched", "url hit", "url revalidated", "url missing"])
  }

  /// A policy, whether a fresh, a stale and an absent response lead to a request, and with which directive.
  @Test(
    arguments: [
      (.useProtocolCachePolicy, [false, true, true], nil), (.reloadIgnoringLocalCacheData, [true, true, true], nil),
      (.reloadIgnoringLocalAndRemoteCacheData, [true, true, true], "no-cache"),
      (.reloadRevalidatingCacheData, [true, true, true], "no-cache"),
      (.returnCacheDataElseLoad, [false, false, true], nil), (.returnCacheDataDontLoad, [false, false, false], nil),
    ] as [(URLRequest.CachePolicy, [Bool], String?)], [true, false])
  func policies(
    _ example: (policy: URLRequest.CachePolicy, asks: [Bool], directive: String?), ofSession: Bool
  ) async throws {
    let bench = try await Bench()
    let server = try TestServer { TestResponse(fields: Self.fresh, "hi").validated(for: $0) }
    let filling = bench.session()
    let session = bench.session { if ofSession { $0.requestCachePolicy = example.policy } }
    _ = try await filling.get(server.url)
    var asked: [Bool] = []
    for url in [server.url, server.url, server.url + "/absent"] {
      server.forgetRequests()
      _ = try? await session.get(url, ofSession ? .useProtocolCachePolicy : example.policy)
      asked.append(server.count == 1)
      if server.count == 1 { #expect(server.requests.first?.fields["Cache-Control"] == example.directive) }
      // Stale for the second request.
      if asked.count == 1 { bench.wait(61) }
    }
    #expect(asked == example.asks)
  }

  @Test func requestsThatTheCacheAloneCannotServeAreUnavailable() async throws {
    let (bench, server) = (try await Bench(), try TestServer { _ in TestResponse("hi") })
    #expect(await bench.session().failure(server.url, .returnCacheDataDontLoad) == .resourceUnavailable)
    #expect(server.count == 0)
  }

  @Test func headersOfTheSessionSelectAmongResponses() async throws {
    let bench = try await Bench()
    let server = try TestServer { request in
      TestResponse(
        fields: Self.fresh.replacing(with: ["Vary": "X-Who, Accept-Language"]), request.fields["X-Who"] ?? "none")
    }
    let ann = bench.session { $0.httpAdditionalHeaders = ["X-Who": "ann"] }
    let bob = bench.session { $0.httpAdditionalHeaders = ["X-Who": "bob"] }
    for session in [ann, bob, ann, bob] { _ = try await session.get(server.url) }
    #expect(try await ann.get(server.url).text == "ann" && server.count == 2)
    let danish = try await ann.get(server.url, fields: ["Accept-Language": "da", "X-Who": "eve"])
    #expect(danish.text == "eve" && server.count == 3)
    #expect(server.requests.first?.fields["Accept-Language"]?.isEmpty == false)
  }

  /// Content that was compressed is kept as the program sees it.
  @Test func codingsAreUndoneBeforeTheCache() async throws {
    let bench = try await Bench()
    let server = try TestServer { TestResponse(fields: Self.fresh, "hello, hello").gzipped().validated(for: $0) }
    let session = bench.session()
    for _ in 1...2 {
      let answer = try await session.get(server.url)
      #expect(answer.text == "hello, hello" && answer.fields["content-encoding"] == nil)
      #expect(answer.fields["etag"] == "W/\"1-gzip\"" && answer.fields["content-length"] == "12")
    }
    #expect(try await session.get(server.url, fields: ["Range": "bytes=0-4"]).text == "hello")
    bench.wait(61)
    let confirmed = try await session.get(server.url)
    #expect(confirmed.text == "hello, hello" && confirmed.fields["cache-status"]?.contains("fwd-status=304") == true)
    #expect(server.count == 2)
  }

  /// `URLSession` would not decode a response that another user of the cache has stored in its coding.
  @Test func responsesStoredWithTheirCodingAreFetchedAgain() async throws {
    let bench = try await Bench()
    let server = try TestServer { TestResponse(fields: Self.fresh, "hello, hello").gzipped().validated(for: $0) }
    let stored = try await bench.cache.response(to: HTTP.Request(url: server.url + "/"), over: HTTPTransferService())
    #expect(stored.head.fields["content-encoding"] == "gzip" && stored.head.fields["cache-status"]?.isEmpty == false)
    let session = bench.session()
    for _ in 1...2 { #expect(try await session.get(server.url + "/").text == "hello, hello") }
    #expect(server.count == 3)
  }

  @Test(arguments: [true, false]) func contentThatIsTooLargeIsPassedOn(hasLength: Bool) async throws {
    let bench = try await Bench(maxEntryBytes: 10_000)
    let large = String(repeating: "0123456789", count: 100_000)
    let server = try TestServer { _ in
      let response = TestResponse(fields: Self.fresh, large)
      return hasLength ? response : response.chunked(1_000)
    }
    let session = bench.session()
    for _ in 1...2 {
      let answer = try await session.get(server.url)
      #expect(answer.text == large && answer.fields["cache-status"] == nil)
    }
    #expect(try await session.get(server.url, method: "HEAD").fields["content-length"] == (hasLength ? "1000000" : nil))
    #expect(server.count(of: "/", method: "GET") == 4)
  }

  /// A task whose delegate takes the content piece by piece.
  @Test(arguments: [3, 1_000_000]) func delegatesGetTheSameAsCompletionHandlers(count: Int) async throws {
    let bench = try await Bench(maxEntryBytes: 10_000)
    let server = try TestServer { _ in
      TestResponse(fields: Self.fresh, body: .bytes([UInt8](repeating: 7, count: count)))
    }
    for _ in 1...2 {
      let delegate = CollectingDelegate()
      let session = bench.session(delegate: delegate)
      session.dataTask(with: try #require(URL(string: server.url))).resume()
      let (status, content, error) = await delegate.end()
      #expect(status == 200 && content.count == count && error == nil)
      session.finishTasksAndInvalidate()
    }
  }

  @Test func aBrokenTransferIsContinued() async throws {
    let bench = try await Bench()
    let server = try TestServer { request in
      guard let range = request.fields["Range"] else {
        return TestResponse(fields: Self.fresh, "hello, hello").cut(after: 7)
      }
      guard range == "bytes=7-", request.fields["If-Range"] == "\"1\"" else { return TestResponse(status: 500) }
      let place: TestFields = ["Content-Range": "bytes 7-11/12"]
      return TestResponse(status: 206, fields: Self.fresh.replacing(with: place), "hello")
    }
    let session = bench.session()
    #expect(await session.failure(server.url) != nil)
    let whole = try await session.get(server.url)
    #expect(whole.status == 200 && whole.text == "hello, hello")
    #expect(server.count == 2)
  }

  @Test func twoCachesKnowNothingOfEachOther() async throws {
    let (one, two) = (try await Bench(), try await Bench())
    let server = try TestServer { _ in TestResponse(fields: Self.fresh, "hi") }
    let sessions = [one.session(), two.session()]
    for session in sessions + sessions { _ = try await session.get(server.url) }
    #expect(server.count == 2)
    let replaced = URLSessionConfiguration.ephemeral.cached(by: one.cache).cached(by: two.cache)
    #expect(try await URLSession(configuration: replaced).get(server.url).isHit)
    #expect(replaced.protocolClasses?.count == (URLSessionConfiguration.ephemeral.protocolClasses?.count ?? 0) + 1)
  }

  /// A store that is out of use keeps no response from its task.
  @Test func aStoreThatFailsIsAWarning() async throws {
    let (bench, server) = (try await Bench(), try TestServer { _ in TestResponse(fields: Self.fresh, "hi") })
    let session = bench.session()
    _ = try await session.get(server.url)
    try await bench.cache.close()
    #expect(try await session.get(server.url).text == "hi")
    #expect(bench.warnings.all == ["closed"] && server.count == 2)
    #expect(await session.failure(server.url, .returnCacheDataDontLoad) == .cannotOpenFile)
  }

  /// Many tasks at once: some share a request, and each gets its own response.
  @Test func manyTasksAtOnce() async throws {
    let bench = try await Bench()
    let server = try TestServer { TestResponse(fields: Self.fresh, $0.path) }
    let session = bench.session()
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<300 {
        group.addTask { try await session.get("\(server.url)/\(number % 50)").text == "/\(number % 50)" }
      }
      for try await isRight in group { #expect(isRight) }
    }
    #expect(server.count == 50)
  }
}
