import FetchVocabulary
import Testing
@testable import CacheCore
@testable import HTTPCaching

/// Fetches of URLs during which the stored response changes, or the caller leaves, while the server responds.
@Suite(.timeLimit(.minutes(30))) struct HTTPCacheRaceTests {
  /// A server's work is done even if the task that requested it no longer waits for the response.
  @Test(arguments: ["POST", "PUT", "DELETE"])
  func aRequestCancelledAfterItsResponseStillInvalidates(method: String) async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, ["Cache-Control": "max-age=60"], "a"))
    _ = try await bench.get()
    #expect(bench.storage.keys.count == 1)
    let services = FetchServices(rules: HTTPCacheRules(freshness: HTTPCacheBench.freshness), now: { .seconds(1_000) })
    let cache = HTTPCache(responses: bench.storage.responses, transfer: CancellingTransfer(), services: services)
    let request = HTTP.Request(method: method, url: HTTPCacheBench.url)
    await Task {
      var iterator = cache.responses(to: request, options: FetchOptions()).makeAsyncIterator()
      _ = try? await iterator.next()
    }.value
    #expect(bench.storage.keys.isEmpty)
  }

  /// RFC 9111, section 4.4: the status decides what an unsafe request invalidates, whatever becomes of the content.
  @Test(
    arguments: [
      ("POST", 200), ("PUT", 201), ("DELETE", 204), ("PATCH", 303), ("POST", 500), ("POST", 404), ("GET", 200),
    ], [CacheError.Code.originUnreachable, .invalidAnswer, .cancelled, .tooLarge])
  func contentThatBreaksOffInvalidatesByItsStatus(request: (method: String, status: Int), code: CacheError.Code)
    async throws
  {
    let bench = HTTPCacheBench(FakeTransfer(200, ["Cache-Control": "max-age=60"], "a"))
    let head = HTTP.ResponseHead(status: request.status, fields: ["Content-Length": "9", "Location": "/named"])
    let url = request.method == "PATCH" ? "http://a.example/other" : HTTPCacheBench.url
    if request.method == "PATCH" { _ = try await bench.get(url: "http://a.example/named") }
    if request.method != "PATCH" { _ = try await bench.get() }
    let failing = FakeTransfer(
      failing: CacheError(code, "it broke off", hint: "wait", cause: IncompleteResponse(HTTP.Response(head, body: [1])))
    )
    let error = await #expect(throws: CacheError.self) {
      try await bench.get([:], .networkOnly, method: request.method, url: url, from: failing)
    }
    #expect(error?.code == code && error?.message == "it broke off" && error?.hint == "wait")
    let isInvalidated = request.method != "GET" && request.status < 400
    #expect(bench.storage.keys.isEmpty == isInvalidated)
  }

  /// The failure says so if the cache could not remove the invalid response.
  @Test func failedInvalidationsArePartOfTheFailure() async throws {
    let failing = FakeTransfer(
      failing: CacheError(
        .originUnreachable, "it broke off", cause: IncompleteResponse(HTTP.Response(HTTP.ResponseHead(status: 200)))))
    let bench = HTTPCacheBench(failing, storage: ShelfOfResponses(failing: CacheError(.noSpace, "the disk is full")))
    let error = await #expect(throws: CacheError.self) { try await bench.get(method: "POST") }
    #expect(error?.code == .originUnreachable)
    #expect(error?.message == "it broke off; and the cache could not remove what the request changed: the disk is full")
  }

  /// Another task may replace the stored response before the response to a HEAD arrives.
  @Test func aHeadLeavesLaterEntriesAlone() async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""], "old"))
    _ = try await bench.get()
    bench.wait(70)
    let newer = FakeTransfer(200, ["Cache-Control": "max-age=60", "ETag": "\"2\""], "new")
    let head = OvertakenTransfer(
      answer: HTTP.ResponseHead(status: 200, fields: ["Cache-Control": "max-age=60", "ETag": "\"1\""])
    ) { _ = try await bench.get([:], .networkOnly, from: newer) }
    let services = FetchServices(rules: HTTPCacheRules(freshness: HTTPCacheBench.freshness), now: { .seconds(1_070) })
    let cache = HTTPCache(responses: bench.storage.responses, transfer: head, services: services)
    for try await _ in cache.responses(
      to: HTTP.Request(method: "HEAD", url: HTTPCacheBench.url), options: FetchOptions())
    {}
    #expect(try await bench.get([:], .cacheOnly).first?.value.body == Array("new".utf8))
  }

  /// Another task may replace or remove the stored response before the server confirms it.
  @Test(arguments: [true, false]) func aConfirmationLeavesLaterEntriesAlone(isReplaced: Bool) async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""], "old"))
    _ = try await bench.get()
    bench.wait(70)
    let newer = FakeTransfer(200, ["Cache-Control": "max-age=60", "ETag": "\"2\""], "new")
    let transfer = OvertakenTransfer(answer: HTTP.ResponseHead(status: 304, fields: ["ETag": "\"1\""])) {
      if isReplaced { _ = try await bench.get([:], .networkOnly, from: newer) }
      if !isReplaced { try await bench.storage.responses.remove(bench.storage.keys) }
    }
    let services = FetchServices(rules: HTTPCacheRules(freshness: HTTPCacheBench.freshness), now: { .seconds(1_070) })
    let cache = HTTPCache(responses: bench.storage.responses, transfer: transfer, services: services)
    var snapshots: [Snapshot<HTTP.Response>] = []
    for try await snapshot in cache.responses(to: HTTP.Request(url: HTTPCacheBench.url), options: FetchOptions()) {
      snapshots.append(snapshot)
    }
    #expect(snapshots.map(\.value.body) == [Array("old".utf8)] && snapshots.allSatisfy(\.warnings.isEmpty))
    #expect(snapshots.first?.isRevalidated == true && snapshots.first?.entry.isStored == false)
    let kept = isReplaced ? try await bench.get([:], .cacheOnly).first?.value.body : nil
    #expect(kept == (isReplaced ? Array("new".utf8) : nil))
    #expect(bench.storage.keys.count == (isReplaced ? 1 : 0))
  }

  /// The response of a server that did not prove its identity changes no stored response.
  @Test(arguments: [("GET", 200), ("GET", 404), ("GET", 410), ("HEAD", 200), ("POST", 200)])
  func aServerThatIsNotBelievedChangesNothing(method: String, status: Int) async throws {
    let storage = ShelfOfResponses()
    let url = "https://a.example/x"
    var services = FetchServices(rules: HTTPCacheRules(freshness: HTTPCacheBench.freshness), now: { .seconds(1_000) })
    let first = FakeTransfer(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""], "sound")
    for try await _ in HTTPCache(responses: storage.responses, transfer: first, services: services)
      .responses(to: HTTP.Request(url: url), options: FetchOptions())
    {}
    services.rules.isInsecure = true
    let second = FakeTransfer(status, ["Cache-Control": "max-age=900", "ETag": "\"2\""], "forged")
    for try await snapshot in HTTPCache(responses: storage.responses, transfer: second, services: services).responses(
      to: HTTP.Request(method: method, url: url), options: FetchOptions(policy: .networkOnly))
    { #expect(snapshot.value.body == Array("forged".utf8) && snapshot.value.head.status == status) }
    #expect(second.requests.map { $0.fields["If-None-Match"] } == [nil])
    let kept = try #require(try await storage.responses.variants(of: url) { $0 }.selected.first)
    #expect(kept.head.head.fields["ETag"] == "\"1\"" && kept.head.freshUntil == .seconds(1_060))
  }

  /// Before the request, the cache searches the store again, because another task may have stored a response meanwhile.
  @Test func aStorageThatFailsAtTheSecondLookUpIsAWarning() async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, ["Cache-Control": "max-age=60"], "a"))
    _ = try await bench.get()
    bench.wait(70)
    let coalescer = RequestCoalescer()
    let services = FetchServices(
      rules: HTTPCacheRules(freshness: HTTPCacheBench.freshness), now: { .seconds(1_070) }, coalescer: coalescer)
    let cache = HTTPCache(responses: bench.storage.responses, transfer: bench.transfer, services: services)
    let request = HTTP.Request(url: HTTPCacheBench.url)
    let key = try #require(try URLTarget(request: request, cache: cache).coalescingKey())
    guard case .leading(let token) = try await coalescer.join(key) else { return }
    let fetching = Task {
      var snapshots = cache.responses(to: request, options: FetchOptions()).makeAsyncIterator()
      return try await snapshots.next()
    }
    while coalescer.waiters(for: key) == 0 {
      try Task.checkCancellation()
      await Task.yield()
    }
    for key in bench.storage.keys { bench.storage.damage(key) }
    // The first caller is cancelled. So the one that waits makes the request.
    await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await coalescer.finish(token)
    }.value
    let snapshot = try #require(try await fetching.value)
    #expect(snapshot.source == .origin && snapshot.warnings.map(\.error.code) == [.damaged])
    #expect(snapshot.warnings.map(\.phase) == [.reading])
  }

  /// A transfer that runs other work before it responds.
  private struct OvertakenTransfer: DataTransferService {
    let answer: HTTP.ResponseHead
    let meanwhile: @Sendable () async throws -> Void

    func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
      do { try await meanwhile() } catch { throw CacheError(.originUnreachable, "\(error)") }
      return HTTP.Response(answer)
    }
  }

  /// A transfer that cancels its own task just before it responds.
  private struct CancellingTransfer: DataTransferService {
    func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
      withUnsafeCurrentTask { $0?.cancel() }
      return HTTP.Response(HTTP.ResponseHead(status: 200, fields: [:]))
    }
  }
}
