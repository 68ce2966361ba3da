import CacheCore
import FetchVocabulary
import Synchronization
import Testing

@Suite struct RetryingTransferServiceTests {
  /// A request, the server's responses in order, and the result.
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var method = "GET"
    let answers: [HTTP.ResponseHead]
    let status: Int
    let delays: [Duration]

    static let busy = HTTP.ResponseHead(status: 503)
    static let done = HTTP.ResponseHead(status: 200)
    static func limited(_ retryAfter: String, date: String? = nil) -> HTTP.ResponseHead {
      var head = HTTP.ResponseHead(status: 429, fields: ["Retry-After": retryAfter])
      if let date { head.fields["Date"] = date }
      return head
    }

    static let all = [
      Case(testDescription: "done at once", answers: [done], status: 200, delays: []),
      Case(testDescription: "busy once", answers: [busy, done], status: 200, delays: [.milliseconds(750)]),
      Case(
        testDescription: "busy forever", answers: [busy, busy, busy, done], status: 503,
        delays: [.milliseconds(750), .milliseconds(1_500)]),
      Case(testDescription: "asks for seconds", answers: [limited("7"), done], status: 200, delays: [.seconds(7)]),
      Case(testDescription: "asks for no wait", answers: [limited("0"), done], status: 200, delays: [.zero]),
      Case(testDescription: "asks for too long", answers: [limited("11"), done], status: 429, delays: []),
      Case(
        testDescription: "asks for a date, by its clock",
        answers: [limited("Sun, 06 Nov 1994 08:49:40 GMT", date: "Sun, 06 Nov 1994 08:49:37 GMT"), done], status: 200,
        delays: [.seconds(3)]),
      Case(
        testDescription: "asks for a date, by ours", answers: [limited("Thu, 01 Jan 1970 00:01:49 GMT"), done],
        status: 200, delays: [.seconds(9)]),
      Case(
        testDescription: "asks for a date that has passed", answers: [limited("Thu, 01 Jan 1970 00:00:09 GMT"), done],
        status: 200, delays: [.zero]),
      Case(
        testDescription: "asks for nonsense", answers: [limited("soon"), done], status: 200,
        delays: [.milliseconds(750)]),
      Case(
        testDescription: "put, which changes something", method: "PUT", answers: [busy, done], status: 503, delays: []),
      Case(testDescription: "post", method: "POST", answers: [busy, done], status: 503, delays: []),
      Case(
        testDescription: "another failure", answers: [HTTP.ResponseHead(status: 500), done], status: 500, delays: []),
    ]
  }

  @Test(arguments: Case.all) func repeats(_ test: Case) async throws {
    let delays = Mutex<[Duration]>([])
    let script = ScriptedTransfer(test.answers.map { .success(HTTP.Response($0)) })
    let service = service(script) { delay in delays.withLock { $0.append(delay) } }
    let response = try await service.transfer(HTTP.Request(method: test.method, url: "http://a/"))
    #expect(response.head.status == test.status)
    #expect(delays.withLock { $0 } == test.delays)
    #expect(script.count == test.delays.count + 1)
  }

  @Test func failedConnectionIsNotRepeated() async {
    let script = ScriptedTransfer([.failure(CacheError(.originUnreachable, "no")), .success(HTTP.Response(Case.done))])
    let error = await #expect(throws: CacheError.self) {
      try await service(script) { _ in }.transfer(HTTP.Request(url: "http://a/"))
    }
    #expect(error?.code == .originUnreachable)
    #expect(script.count == 1)
  }

  /// With a number of retries, every failure that may pass is retried, with longer and longer pauses.
  @Test func everyPassingFailureIsRepeatedIfRetriesAreRequested() async throws {
    let delays = Mutex<[Duration]>([])
    let failures = [500, 502, 504, 408].map {
      Result<HTTP.Response, CacheError>.success(HTTP.Response(.init(status: $0)))
    }
    let lost = Result<HTTP.Response, CacheError>.failure(CacheError(.originUnreachable, "no"))
    let script = ScriptedTransfer(failures + [lost, .success(HTTP.Response(Case.done))])
    let service = RetryingTransferService(
      script, patience: .init(retries: 5), now: { .seconds(100) }, random: { 1 },
      sleep: { delay in delays.withLock { $0.append(delay) } })
    #expect(try await service.transfer(HTTP.Request(url: "http://a/")).head.status == 200)
    #expect(delays.withLock { $0 } == [1, 2, 4, 8, 16].map { .seconds($0) })
    let refused = ScriptedTransfer([.failure(CacheError(.invalidAnswer, "no")), .success(HTTP.Response(Case.done))])
    let error = await #expect(throws: CacheError.self) {
      try await RetryingTransferService(refused, patience: .init(retries: 5), now: { .zero }, sleep: { _ in })
        .transfer(HTTP.Request(url: "http://a/"))
    }
    #expect(error?.code == .invalidAnswer && refused.count == 1)
  }

  /// The content of a response that is not passed on is released before the pause. One that is passed on stays, even if
  /// it breaks off.
  @Test func onlyContentThatIsNotPassedOnIsReplaced() async throws {
    let released = Mutex(false)
    let rest = StreamedContent(whenEnded: { released.withLock { $0 = true } }) { [1] }
    let broken = StreamedContent { () throws(CacheError) in throw CacheError(.originUnreachable, "broke off") }
    let script = ScriptedTransfer([
      .success(HTTP.Response(Case.busy, rest: rest)), .success(HTTP.Response(Case.done, rest: broken)),
    ])
    let service = RetryingTransferService(
      script, patience: .init(retries: 5), now: { .zero }, sleep: { _ in #expect(released.withLock { $0 }) })
    let response = try await service.transfer(HTTP.Request(url: "http://a/"))
    #expect(response.rest == broken && script.count == 2)
  }

  @Test func cancelledWaitEndsTheRequest() async {
    let script = ScriptedTransfer([.success(HTTP.Response(Case.busy)), .success(HTTP.Response(Case.done))])
    let service = service(script) { _ in throw CancellationError() }
    let error = await #expect(throws: CacheError.self) { try await service.transfer(HTTP.Request(url: "http://a/")) }
    #expect(error?.code == .cancelled)
    #expect(script.count == 1)
  }

  /// Waits three quarters of the longest wait, with a clock at 100 seconds after 1970.
  private func service(
    _ transfer: any DataTransferService, _ sleep: @escaping @Sendable (Duration) async throws -> Void
  ) -> RetryingTransferService {
    RetryingTransferService(
      transfer, patience: .init(attempts: 3, firstPause: .seconds(1), longestPause: .seconds(10)),
      now: { .seconds(100) }, random: { 0.5 }, sleep: sleep)
  }
}

/// A transfer that returns its results in order, whatever the request.
final class ScriptedTransfer: DataTransferService {
  private let results: [Result<HTTP.Response, CacheError>]
  private let next = Mutex(0)

  init(_ results: [Result<HTTP.Response, CacheError>]) { self.results = results }

  /// The number of requests.
  var count: Int { next.withLock { $0 } }

  func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
    let index = next.withLock { next in
      defer { next += 1 }
      return next
    }
    guard results.indices.contains(index) else { throw CacheError(.invalidRequest, "asked too often") }
    return try results[index].get()
  }
}

@Suite(.timeLimit(.minutes(30))) struct LimitedTransferServiceTests {
  @Test(arguments: [1, 3, 20]) func limitsTransfersAtOnce(_ limit: Int) async throws {
    let held = HeldTransfer()
    let service = LimitedTransferService(held, limit: limit)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<30 { group.addTask { _ = try await service.transfer(HTTP.Request(url: "http://a/\(number)")) } }
      for number in 0..<30 {
        // The limit is reached before any of them ends.
        while held.started.count < min(number + limit, 30) { await Task.yield() }
        #expect(held.started.count - number <= limit)
        held.finishOne()
      }
      try await group.waitForAll()
    }
    #expect(held.greatest == limit)
  }

  @Test func cancelledWaiterLeavesTheQueue() async throws {
    let held = HeldTransfer()
    let service = LimitedTransferService(held, limit: 1)
    let first = Task { try await service.transfer(HTTP.Request(url: "http://a/1")) }
    while held.started.isEmpty { await Task.yield() }
    let second = Task { try await service.transfer(HTTP.Request(url: "http://a/2")) }
    second.cancel()
    let error = await #expect(throws: CacheError.self) { try await second.value }
    #expect(error?.code == .cancelled)
    let third = Task { try await service.transfer(HTTP.Request(url: "http://a/3")) }
    held.finishOne()
    _ = try await first.value
    while held.started.count < 2 { await Task.yield() }
    held.finishOne()
    _ = try await third.value
    #expect(held.started == ["http://a/1", "http://a/3"])
  }

  @Test func failureGivesItsTurnBack() async throws {
    let failing = FakeTransfer(failing: CacheError(.originUnreachable, "no"))
    let service = LimitedTransferService(failing, limit: 1)
    for _ in 0..<2 {
      await #expect(throws: CacheError.self) { try await service.transfer(HTTP.Request(url: "http://a/")) }
    }
    #expect(failing.requests.count == 2)
  }

  /// A transfer lasts as long as its content: until its end, its failure, or until nobody will read it.
  @Test func contentHoldsItsTurn() async throws {
    let pieces = Mutex<[[UInt8]]>([[1]])
    let ending = HTTP.Response(
      HTTP.ResponseHead(status: 200), rest: StreamedContent { pieces.withLock { $0.popLast() } })
    let failing = HTTP.Response(
      HTTP.ResponseHead(status: 200),
      rest: StreamedContent { () throws(CacheError) in throw CacheError(.originUnreachable, "broke off") })
    let answers = ["http://a/end": ending, "http://a/failure": failing]
    for (path, isReleased) in [("end", false), ("failure", false), ("end", true), ("none", false)] {
      let transfer = FakeTransfer(HTTP.Response(HTTP.ResponseHead(status: 200)), but: answers)
      let service = LimitedTransferService(transfer, limit: 1)
      let response = try await service.transfer(HTTP.Request(url: "http://a/\(path)"))
      let second = Task { try await service.transfer(HTTP.Request(url: "http://a/")) }
      if let rest = response.rest {
        for _ in 0..<10 { await Task.yield() }
        #expect(transfer.requests.count == 1)
        if isReleased { rest.release() } else { while (try? await rest.next()) != nil {} }
      }
      #expect(try await second.value.head.status == 200)
    }
  }

  /// The response that redirects is not read, and must not keep the next request waiting forever.
  @Test(arguments: ["no-store", "max-age=60"]) func aRedirectionGivesItsTurnBack(control: String) async throws {
    let head = HTTP.ResponseHead(status: 302, fields: ["Location": "/b", "Cache-Control": control])
    let redirection = HTTP.Response(head, rest: StreamedContent(length: 1 << 40) { [1] })
    let transfer = FakeTransfer(
      HTTP.Response(HTTP.ResponseHead(status: 200), body: [2]), but: ["http://a/": redirection])
    let cache = HTTPCache(
      responses: ShelfOfResponses().responses, transfer: LimitedTransferService(transfer, limit: 1),
      services: FetchServices(
        rules: HTTPCacheRules(freshness: HTTPCacheBench.freshness), now: { .seconds(1_000) },
        background: BackgroundWork()))
    var last: HTTP.Response?
    for try await snapshot in cache.followedResponses(
      to: HTTP.Request(url: "http://a/"), options: FetchOptions(), maxRedirects: 5)
    { last = snapshot.value.response }
    #expect(last?.body == [2] && transfer.requests.map(\.url) == ["http://a/", "http://a/b"])
  }

  /// A transfer that ends on demand, in the order of the requests.
  private final class HeldTransfer: DataTransferService {
    private struct State {
      var started: [String] = []
      var greatest = 0
      var held: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// The requested URLs, in order.
    var started: [String] { state.withLock { $0.started } }
    /// The highest number of concurrent requests.
    var greatest: Int { state.withLock { $0.greatest } }

    /// Ends the oldest running transfer.
    func finishOne() {
      let first = state.withLock { $0.held.isEmpty ? nil : $0.held.removeFirst() }
      first?.resume()
    }

    func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
      await withCheckedContinuation { continuation in
        state.withLock { state in
          state.started.append(request.url)
          state.held.append(continuation)
          state.greatest = max(state.greatest, state.held.count)
        }
      }
      return HTTP.Response(HTTP.ResponseHead(status: 200))
    }
  }
}

@Suite struct LoggingTransferServiceTests {
  @Test func logsAResponseWithoutSecrets() async throws {
    let logger = Records()
    let request = HTTP.Request(
      url: "https://u:hidden@a.example/b?q=1&api_key=hidden#hidden", fields: ["Authorization": "Bearer hidden"])
    let response = try await service(FakeTransfer(200, ["Set-Cookie": "hidden"], "body"), logger).transfer(request)
    #expect(response.body == Array("body".utf8))
    let record = try #require(logger.records.first)
    #expect(record.method == "GET")
    #expect(record.url == "https://a.example/b?...")
    #expect(record.status == 200)
    #expect(record.byteCount == 4)
    #expect(record.duration == .milliseconds(1_500))
    #expect(record.failure == nil)
    #expect(!String(reflecting: record).contains("hidden"))
  }

  /// A transfer that is read as it arrives ends with its content, or when nobody will read it.
  @Test(arguments: [true, false]) func logsContentThatArrivedLater(isWhole: Bool) async throws {
    let logger = Records()
    let pieces = Mutex<[[UInt8]]>([[4, 5, 6], [2, 3]])
    let rest = StreamedContent(trailers: { ["Sum": "1"] }) { pieces.withLock { $0.popLast() } }
    let transfer = FakeTransfer(HTTP.Response(HTTP.ResponseHead(status: 200), body: [1], rest: rest))
    let response = try await service(transfer, logger).transfer(HTTP.Request(url: "http://a/"))
    let logged = try #require(response.rest)
    #expect(try await logged.next() == [2, 3] && logger.records.isEmpty)
    if isWhole { while try await logged.next() != nil {} } else { logged.release() }
    #expect(logger.records.map(\.byteCount) == [isWhole ? 6 : 3])
    #expect(logged.trailers == (isWhole ? ["Sum": "1"] : [:]))
  }

  @Test func logsFailure() async throws {
    let logger = Records()
    let transfer = FakeTransfer(failing: CacheError(.originUnreachable, "hidden"))
    let error = await #expect(throws: CacheError.self) {
      try await service(transfer, logger).transfer(HTTP.Request(method: "HEAD", url: "http://a/"))
    }
    #expect(error?.message == "hidden")
    let record = try #require(logger.records.first)
    #expect(record.method == "HEAD")
    #expect(record.url == "http://a/")
    #expect(record.status == nil)
    #expect(record.failure == .originUnreachable)
    #expect(!String(reflecting: record).contains("hidden"))
  }

  /// Each reading of the clock is a second and a half after the last one.
  private func service(_ transfer: any DataTransferService, _ logger: Records) -> LoggingTransferService {
    let time = ManualTime()
    return LoggingTransferService(transfer, logger: logger) { time.next() }
  }

  private final class ManualTime: Sendable {
    private let now = Mutex(ContinuousClock.now)

    func next() -> ContinuousClock.Instant {
      now.withLock { now in
        now += .milliseconds(1_500)
        return now
      }
    }
  }

  private final class Records: TransferLogger {
    private let logged = Mutex<[TransferRecord]>([])

    var records: [TransferRecord] { logged.withLock { $0 } }

    func log(_ record: TransferRecord) { logged.withLock { $0.append(record) } }
  }
}
