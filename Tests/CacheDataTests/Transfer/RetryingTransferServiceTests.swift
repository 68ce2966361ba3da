import CacheCore
import FetchVocabulary
import Synchronization
import Testing

@Suite struct RetryingTransferServiceTests {
  /// A request, the server's answers in order, and the result.
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var method = "GET"
    let answers: [HTTPResponseHead]
    let status: Int
    let delays: [Duration]

    static let busy = HTTPResponseHead(status: 503)
    static let done = HTTPResponseHead(status: 200)
    static func limited(_ retryAfter: String, date: String? = nil) -> HTTPResponseHead {
      var head = HTTPResponseHead(status: 429, fields: ["Retry-After": retryAfter])
      if let date { head.fields["Date"] = date }
      return head
    }

    static let all = [
      Case(testDescription: "done at once", answers: [done], status: 200, delays: []),
      Case(testDescription: "busy once", answers: [busy, done], status: 200, delays: [.milliseconds(750)]),
      Case(
        testDescription: "busy for ever", answers: [busy, busy, busy, done], status: 503,
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
        testDescription: "another failure", answers: [HTTPResponseHead(status: 500), done], status: 500, delays: []),
    ]
  }

  @Test(arguments: Case.all)
  func repeats(_ test: Case) async throws {
    let delays = Mutex<[Duration]>([])
    let script = ScriptedTransfer(test.answers.map { .success(HTTPResponse($0)) })
    let service = service(script) { delay in delays.withLock { $0.append(delay) } }
    let response = try await service.transfer(HTTPRequest(method: test.method, url: "http://a/"))
    #expect(response.head.status == test.status)
    #expect(delays.withLock { $0 } == test.delays)
    #expect(script.count == test.delays.count + 1)
  }

  @Test func failedConnectionIsNotRepeated() async {
    let script = ScriptedTransfer([.failure(CacheError(.originUnreachable, "no")), .success(HTTPResponse(Case.done))])
    let error = await #expect(throws: CacheError.self) {
      try await service(script) { _ in }.transfer(HTTPRequest(url: "http://a/"))
    }
    #expect(error?.code == .originUnreachable)
    #expect(script.count == 1)
  }

  /// With a number of retries, every failure that may pass is retried, with longer and longer pauses.
  @Test func everyPassingFailureIsRepeatedWhereRetriesAreAskedFor() async throws {
    let delays = Mutex<[Duration]>([])
    let failures = [500, 502, 504, 408].map {
      Result<HTTPResponse, CacheError>.success(HTTPResponse(.init(status: $0)))
    }
    let lost = Result<HTTPResponse, CacheError>.failure(CacheError(.originUnreachable, "no"))
    let script = ScriptedTransfer(failures + [lost, .success(HTTPResponse(Case.done))])
    let service = RetryingTransferService(
      script, patience: .init(retries: 5), now: { .seconds(100) }, random: { 1 },
      sleep: { delay in delays.withLock { $0.append(delay) } })
    #expect(try await service.transfer(HTTPRequest(url: "http://a/")).head.status == 200)
    #expect(delays.withLock { $0 } == [1, 2, 4, 8, 16].map { .seconds($0) })
    let refused = ScriptedTransfer([.failure(CacheError(.invalidAnswer, "no")), .success(HTTPResponse(Case.done))])
    let error = await #expect(throws: CacheError.self) {
      try await RetryingTransferService(refused, patience: .init(retries: 5), now: { .zero }, sleep: { _ in })
        .transfer(HTTPRequest(url: "http://a/"))
    }
    #expect(error?.code == .invalidAnswer && refused.count == 1)
  }

  /// The content of a response that is not passed on is released before the pause. One that is passed on stays, even if
  /// it breaks off.
  @Test func onlyWhatIsNotPassedOnIsReplaced() async throws {
    let released = Mutex(false)
    let rest = StreamedContent(whenEnded: { released.withLock { $0 = true } }) { [1] }
    let broken = StreamedContent { () throws(CacheError) in throw CacheError(.originUnreachable, "broke off") }
    let script = ScriptedTransfer([
      .success(HTTPResponse(Case.busy, rest: rest)), .success(HTTPResponse(Case.done, rest: broken)),
    ])
    let service = RetryingTransferService(
      script, patience: .init(retries: 5), now: { .zero },
      sleep: { _ in #expect(released.withLock { $0 }) })
    let response = try await service.transfer(HTTPRequest(url: "http://a/"))
    #expect(response.rest == broken && script.count == 2)
  }

  @Test func cancelledWaitEndsTheRequest() async {
    let script = ScriptedTransfer([.success(HTTPResponse(Case.busy)), .success(HTTPResponse(Case.done))])
    let service = service(script) { _ in throw CancellationError() }
    let error = await #expect(throws: CacheError.self) { try await service.transfer(HTTPRequest(url: "http://a/")) }
    #expect(error?.code == .cancelled)
    #expect(script.count == 1)
  }

  /// Waits three quarters of the longest wait, with a clock at 100 seconds after 1970.
  private func service(
    _ transfer: any DataTransferService, _ sleep: @escaping @Sendable (Duration) async throws -> Void
  ) -> RetryingTransferService {
    RetryingTransferService(
      transfer,
      patience: .init(attempts: 3, firstPause: .seconds(1), longestPause: .seconds(10)),
      now: { .seconds(100) }, random: { 0.5 }, sleep: sleep)
  }
}

/// A transfer that returns its results in order, whatever the request.
final class ScriptedTransfer: DataTransferService {
  private let results: [Result<HTTPResponse, CacheError>]
  private let next = Mutex(0)

  init(_ results: [Result<HTTPResponse, CacheError>]) { self.results = results }

  /// The number of requests.
  var count: Int { next.withLock { $0 } }

  func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
    let index = next.withLock { next in
      defer { next += 1 }
      return next
    }
    guard results.indices.contains(index) else { throw CacheError(.invalidRequest, "asked too often") }
    return try results[index].get()
  }
}
