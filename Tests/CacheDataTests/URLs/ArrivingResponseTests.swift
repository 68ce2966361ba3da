import FetchVocabulary
import Synchronization
import Testing
@testable import CacheCore
@testable import HTTPCaching

/// Responses that their callers get while they arrive, and that are stored once they are complete.
@Suite(.timeLimit(.minutes(30))) struct ArrivingResponseTests {
  private static let url = HTTPCacheBench.url
  private static let fresh: HTTP.Fields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]

  private let storage = ShelfOfResponses()
  private let background = BackgroundWork()
  private let coalescer: RequestCoalescer
  private let time = Time()

  init() { coalescer = storage.coalescer }

  private final class Time: Sendable {
    private let seconds = Mutex(1_000)
    var now: Duration { .seconds(seconds.withLock { $0 }) }
    func wait(_ count: Int) { seconds.withLock { $0 += count } }
  }

  private func fetch(
    _ server: StagedServer, _ fields: HTTP.Fields = [:], policy: FetchPolicy = .cacheFirst, limit: Int = 100,
    in process: ShelfOfResponses? = nil
  ) async throws -> Snapshot<HTTP.Response> {
    let storage = process ?? storage
    let rules = HTTPCacheRules(
      freshness: FreshnessPolicy(timeToLive: .zero, staleIfError: .seconds(300), staleWhileRevalidate: .zero))
    let services = FetchServices(
      rules: rules, now: { [time] in time.now }, coalescer: storage.coalescer, background: background)
    let cache = HTTPCache(responses: storage.responses, transfer: server, services: services, maxContentBytes: limit)
    var snapshots = cache.responses(
      to: HTTP.Request(url: Self.url, fields: fields), options: FetchOptions(policy: policy)
    ).makeAsyncIterator()
    return try #require(try await snapshots.next())
  }

  private func text(_ response: HTTP.Response) async throws -> String {
    var content = response.body
    while let piece = try await response.rest?.next() { content += piece }
    return String(decoding: content, as: UTF8.self)
  }

  @Test func theContentIsReadWhileItArrivesAndStoredAtItsEnd() async throws {
    let server = StagedServer(HTTP.ResponseHead(status: 200, fields: Self.fresh))
    server.send("a")
    let response = try await fetch(server).value
    #expect(response.head.fields["Cache-Status"] == "ResponseCache; fwd=uri-miss; fwd-status=200; stored; ttl=60")
    let rest = try #require(response.rest)
    #expect(try await rest.next() == Array("a".utf8) && storage.keys.isEmpty)
    server.send("b")
    #expect(try await rest.next() == Array("b".utf8) && storage.keys.isEmpty)
    server.end()
    #expect(try await rest.next() == nil)
    #expect(storage.keys.count == 1)
    #expect(try await fetch(server, policy: .cacheOnly).value.body == Array("ab".utf8))
  }

  @Test func waitersGetTheContentToo() async throws {
    let server = StagedServer(HTTP.ResponseHead(status: 200, fields: Self.fresh))
    server.hold()
    let first = Task { try await fetch(server).value }
    let others = (0..<3).map { _ in Task { try await fetch(server).value } }
    while coalescer.waiters() < 3 {
      try Task.checkCancellation()
      await Task.yield()
    }
    server.release()
    server.send("a")
    let responses = [try await first.value] + (try await values(others))
    // The head has arrived, and a later caller joins too.
    let late = try await fetch(server).value
    for response in responses + [late] { #expect(try await response.rest?.next() == Array("a".utf8)) }
    server.send("b")
    server.end()
    for response in responses + [late] { #expect(try await text(response) == "b") }
    #expect(server.requests == 1 && storage.keys.count == 1)
    let collapsed = (responses + [late]).count { $0.head.fields["Cache-Status"]?.contains("; collapsed") == true }
    #expect(collapsed == 4)
  }

  private func values(_ tasks: [Task<HTTP.Response, any Error>]) async throws -> [HTTP.Response] {
    var values: [HTTP.Response] = []
    for task in tasks { values.append(try await task.value) }
    return values
  }

  @Test(arguments: ["no-cache, max-age=60", "max-age=0"])
  func aWaiterForAResponseThatMustBeValidatedSendsItsOwnRequest(control: String) async throws {
    let server = StagedServer(HTTP.ResponseHead(status: 200, fields: ["Cache-Control": control, "ETag": "\"1\""]))
    server.hold()
    let first = Task { try await fetch(server).value }
    while server.requests < 1 { await Task.yield() }
    let second = Task { try await fetch(server, policy: .networkOnly).value }
    while coalescer.waiters() < 1 {
      try Task.checkCancellation()
      await Task.yield()
    }
    server.release()
    let response = try await first.value
    #expect(coalescer.waiters() == 1)
    server.send("a")
    server.end()
    #expect(try await text(response) == "a")
    _ = try await second.value
  }

  @Test(arguments: [true, false]) func contentThatBreaksOffIsAnErrorAfterItsBytes(hasLength: Bool) async throws {
    let fields = hasLength ? HTTP.Fields(Self.fresh.lines + [HTTP.Fields.Field("Content-Length", "6")]) : Self.fresh
    let server = StagedServer(HTTP.ResponseHead(status: 200, fields: fields), length: hasLength ? 6 : nil)
    server.send("ab")
    let rest = try #require(try await fetch(server).value.rest)
    #expect(try await rest.next() == Array("ab".utf8))
    server.breakOff()
    let error = await #expect(throws: CacheError.self) { try await rest.next() }
    #expect(error?.code == .originUnreachable)
    #expect(error?.hint.contains("kept what arrived") == hasLength)
    #expect(storage.keys.count == (hasLength ? 1 : 0))
    #expect(try await fetch(server, ["Cache-Control": "only-if-cached"]).value.head.status == 504)
  }

  /// It continues the content that the first process has stored.
  @Test(arguments: [true, false]) func anotherProcessThatWaitsRequestsTheRest(hasLength: Bool) async throws {
    let looks = Mutex(0)
    let processes = (0..<2).map { _ in
      ShelfOfResponses(sharing: storage) { duration in
        // Renewals are far away.
        while duration > .seconds(1) { try await Task.sleep(for: .seconds(3_600)) }
        looks.withLock { $0 += 1 }
        await Task.yield()
      }
    }
    let fields = hasLength ? HTTP.Fields(Self.fresh.lines + [HTTP.Fields.Field("Content-Length", "6")]) : Self.fresh
    let server = StagedServer(HTTP.ResponseHead(status: 200, fields: fields), length: hasLength ? 6 : nil)
    server.send("ab")
    let first = try await fetch(server, in: processes[0]).value
    let second = Task { try await fetch(server, in: processes[1]).value }
    while looks.withLock({ $0 }) < 3 {
      try Task.checkCancellation()
      await Task.yield()
    }
    let breakOff = server.breaking()
    server.restart(
      HTTP.ResponseHead(
        status: hasLength ? 206 : 200,
        fields: hasLength
          ? HTTP.Fields(Self.fresh.lines + [HTTP.Fields.Field("Content-Range", "bytes 2-5/6")]) : Self.fresh))
    server.send(hasLength ? "cdef" : "abcdef")
    server.end()
    breakOff()
    await #expect(throws: CacheError.self) { try await text(first) }
    #expect(try await text(second.value) == "abcdef")
    #expect(server.requests == 2 && server.ranges == [nil, hasLength ? "bytes=2-" : nil])
  }

  /// A response is gathered if a stale one can be served instead.
  @Test(arguments: [6, nil]) func aStaleResponseIsServedForContentThatBreaksOff(length: Int?) async throws {
    let server = StagedServer(HTTP.ResponseHead(status: 200, fields: Self.fresh), length: length)
    server.send("abcdef")
    server.end()
    _ = try await text(try await fetch(server).value)
    time.wait(70)
    server.restart()
    server.send("ABC")
    server.breakOff()
    let snapshot = try await fetch(server)
    #expect(snapshot.value.body == Array("abcdef".utf8) && snapshot.warnings.map(\.error.code) == [.originUnreachable])
  }

  /// The events of a stream are delivered when they come, even if a stale one can be served instead.
  @Test func theEventsOfAStreamDoNotWaitForItsEnd() async throws {
    let type = HTTP.Fields.Field("Content-Type", "text/event-stream; charset=utf-8")
    let server = StagedServer(HTTP.ResponseHead(status: 200, fields: HTTP.Fields(Self.fresh.lines + [type])))
    server.end()
    _ = try await text(try await fetch(server).value)
    time.wait(70)
    server.restart()
    server.send("data: a")
    let rest = try #require(try await fetch(server).value.rest)
    #expect(try await rest.next() == Array("data: a".utf8))
  }

  /// Otherwise the next fetch would get older content than a fetch before it.
  @Test func aSlowResponseDoesNotReplaceANewerOne() async throws {
    let server = StagedServer(HTTP.ResponseHead(status: 200, fields: Self.fresh))
    server.send("old")
    let slow = try await fetch(server).value
    let end = server.restart()
    time.wait(10)
    server.send("new")
    server.end()
    #expect(try await text(try await fetch(server, policy: .networkOnly).value) == "new")
    time.wait(10)
    end()
    #expect(try await text(slow) == "old")
    #expect(try await fetch(server).value.body == Array("new".utf8) && server.requests == 2)
    #expect(await background.finish().isEmpty)
  }

  /// A response that was stored ahead of the clock, which was set back, is replaced.
  @Test func aResponseFromTheFutureIsReplaced() async throws {
    let server = StagedServer(HTTP.ResponseHead(status: 200, fields: Self.fresh))
    server.end()
    time.wait(600)
    _ = try await text(try await fetch(server).value)
    time.wait(-600)
    server.restart()
    server.send("b")
    server.end()
    #expect(try await text(try await fetch(server, policy: .networkOnly).value) == "b")
    #expect(try await fetch(server, policy: .cacheOnly).value.body == Array("b".utf8))
  }

  /// A caller who joins late gets the age of the response, and the rest of its lifetime.
  @Test func aLateCallerGetsTheAgeOfTheResponse() async throws {
    let server = StagedServer(HTTP.ResponseHead(status: 200, fields: Self.fresh))
    server.send("a")
    let first = try await fetch(server)
    time.wait(20)
    let late = try await fetch(server)
    #expect(late.value.head.fields["Cache-Status"]?.contains("; collapsed; ttl=40") == true)
    #expect(late.value.head.fields["Age"] == "20" && late.entry.age == .seconds(20))
    #expect(first.value.head.fields["Age"] == nil && first.entry.age == .zero)
  }

  @Test func aCallerThatLeavesEndsTheTransfer() async throws {
    let server = StagedServer(HTTP.ResponseHead(status: 200, fields: Self.fresh))
    server.send("a")
    var response: HTTP.Response? = try await fetch(server).value
    #expect(try await response?.rest?.next() != nil)
    response = nil
    await server.ended()
    #expect(storage.keys.isEmpty)
    // The request has ended. So a later caller makes its own.
    server.restart()
    server.send("b")
    server.end()
    #expect(try await text(try await fetch(server, policy: .networkOnly).value) == "b")
  }

  @Test func contentAboveTheLimitIsPassedOnAndNotStored() async throws {
    let server = StagedServer(HTTP.ResponseHead(status: 200, fields: Self.fresh))
    let response = try await fetch(server, limit: 3).value
    for piece in ["ab", "cd", "ef"] { server.send(piece) }
    server.end()
    #expect(try await text(response) == "abcdef" && storage.keys.isEmpty)
    #expect(await background.finish().map(\.code) == [.tooLarge])
  }

  @Test func unstorableResponsesArePassedOn() async throws {
    let server = StagedServer(HTTP.ResponseHead(status: 200, fields: ["Cache-Control": "no-store"]))
    server.send("a")
    let response = try await fetch(server).value
    #expect(try await response.rest?.next() == Array("a".utf8))
    server.end()
    #expect(try await text(response).isEmpty && storage.keys.isEmpty)
  }

  @Test func aFailureToStoreIsReported() async throws {
    let server = StagedServer(HTTP.ResponseHead(status: 200, fields: Self.fresh))
    storage.failToStore(CacheError(.noSpace, "the disk is full"))
    server.send("a")
    let response = try await fetch(server).value
    server.end()
    #expect(try await text(response) == "a")
    #expect(await background.finish().map(\.code) == [.noSpace])
  }

  @Test func responsesChangedWhileTheyArriveAreNotStored() async throws {
    let server = StagedServer(HTTP.ResponseHead(status: 200, fields: Self.fresh))
    server.send("a")
    let response = try await fetch(server).value
    try await storage.responses.invalidate([Self.url])
    server.end()
    #expect(try await text(response) == "a" && storage.keys.isEmpty)
    // A caller who requires that the response is stored must learn it.
    #expect(await background.finish().map(\.code) == [.conflict])
  }

  /// Nobody reads the response to a revalidation, which is stored all the same.
  @Test func aRevalidationInTheBackgroundIsGathered() async throws {
    let head = HTTP.ResponseHead(status: 200, fields: ["Cache-Control": "max-age=10, stale-while-revalidate=60"])
    let server = StagedServer(head)
    server.send("a")
    server.end()
    _ = try await text(try await fetch(server).value)
    time.wait(30)
    server.restart()
    server.send("b")
    server.end()
    #expect(try await fetch(server).value.body == Array("a".utf8))
    #expect(await background.finish().isEmpty && server.requests == 2)
    #expect(try await fetch(server, policy: .cacheOnly).value.body == Array("b".utf8))
  }
}

/// A server whose content arrives as the test says.
private final class StagedServer: DataTransferService {
  private typealias Piece = Result<[UInt8], CacheError>

  private struct State {
    var requests = 0
    var ranges: [String?] = []
    var head: HTTP.ResponseHead
    var isHeld = false
    var stream: AsyncStream<Piece>
    var source: AsyncStream<Piece>.Continuation
    var isEnded = false
  }

  private let length: Int?
  private let state: Mutex<State>

  init(_ head: HTTP.ResponseHead, length: Int? = nil) {
    self.length = length
    let (stream, source) = AsyncStream.makeStream(of: Piece.self)
    state = Mutex(State(head: head, stream: stream, source: source))
  }

  var requests: Int { state.withLock { $0.requests } }
  /// The ranges that were requested.
  var ranges: [String?] { state.withLock { $0.ranges } }

  func hold() { state.withLock { $0.isHeld = true } }
  func release() { state.withLock { $0.isHeld = false } }
  func send(_ text: String) { state.withLock { _ = $0.source.yield(.success(Array(text.utf8))) } }
  func end() { state.withLock { $0.source.finish() } }

  func breakOff() { breaking()() }

  /// Returns a closure that breaks off the present content, even after a restart.
  func breaking() -> @Sendable () -> Void {
    let source = state.withLock { $0.source }
    return { source.yield(.failure(CacheError(.originUnreachable, "it broke off", hint: "wait"))) }
  }

  /// The next response has other content, and perhaps another head. Returns a closure that ends the content of the
  /// previous one.
  @discardableResult func restart(_ head: HTTP.ResponseHead? = nil) -> @Sendable () -> Void {
    let (stream, source) = AsyncStream.makeStream(of: Piece.self)
    return state.withLock { state in
      let last = state.source
      state.head = head ?? state.head
      state.stream = stream
      state.source = source
      state.isEnded = false
      return { last.finish() }
    }
  }

  /// Returns once the content has ended or been released.
  func ended() async { while !state.withLock({ $0.isEnded }), !Task.isCancelled { await Task.yield() } }

  func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
    let (head, stream) = state.withLock { state in
      state.requests += 1
      state.ranges.append(request.fields["Range"])
      return (state.head, state.stream)
    }
    while state.withLock({ $0.isHeld }), !Task.isCancelled { await Task.yield() }
    let rest = StreamedContent(
      length: head.status == 206 ? nil : length, whenEnded: { [self] in state.withLock { $0.isEnded = true } }
    ) { () async throws(CacheError) in
      for await piece in stream { return try piece.get() }
      if Task.isCancelled { throw .cancelled }
      return nil
    }
    return HTTP.Response(head, rest: rest)
  }
}
