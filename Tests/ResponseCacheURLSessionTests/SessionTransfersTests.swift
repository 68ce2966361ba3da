import FetchVocabulary
import Foundation
import FoundationNetworking
import HTTPCaching
import TestOrigin
import Testing
@testable import ResponseCacheURLSession

/// Each transfer ends, whatever comes first.
@Suite(.timeLimit(.minutes(10))) struct SessionTransfersTests {
  @Test func aTransferForACancelledTaskEnds() async throws {
    let server = try TestServer(script: [TestResponse("never").held(by: try TestGate())])
    let transfers = SessionTransfers(.ephemeral, limit: 100)
    let request = URLRequest(url: try #require(URL(string: server.url)))
    for _ in 1...50 {
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        do throws(CacheError) {
          _ = try await transfers.response(to: request)
          return nil as CacheError.Code?
        } catch { return error.code }
      }
      #expect(await task.value == .cancelled)
    }
  }

  /// Whoever reads it anyway does not take it for empty content.
  @Test(arguments: [true, false]) func contentThatIsTooLargeFails(hasLength: Bool) async throws {
    let large = TestResponse(body: .bytes([UInt8](repeating: 1, count: 200_000)))
    let server = try TestServer { _ in hasLength ? large : large.chunked(1_000) }
    let transfers = SessionTransfers(.ephemeral, limit: 100)
    let response = try await transfers.response(to: URLRequest(url: try #require(URL(string: server.url))))
    #expect(response.head.status == 200 && response.body.isEmpty && (response.rest?.length ?? 0) > 100)
    let error = await #expect(throws: CacheError.self) { try await response.rest?.next() }
    #expect(error?.code == .tooLarge)
  }

  /// A challenge may come before any response: a proxy or the handshake of TLS asks.
  @Test func aChallengeWithoutAResponseEndsTheTransfer() async throws {
    let session = URLSession(configuration: .ephemeral)
    let task = session.dataTask(with: try #require(URL(string: "http://127.0.0.1:1")))
    let space = URLProtectionSpace(host: "127.0.0.1", port: 1, protocol: "http", realm: nil, authenticationMethod: nil)
    let challenge = URLAuthenticationChallenge(
      protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil,
      sender: NoSender())
    let receiver = Receiver(limit: 100)
    let (results, source) = AsyncStream.makeStream(of: Receiver.Result.self)
    receiver.expect(task, source)
    receiver.urlSession(session, task: task, didReceive: challenge) { disposition, _ in
      #expect(disposition == .cancelAuthenticationChallenge)
    }
    var failures: [CacheError.Code?] = []
    for await result in results { if case .failure(let error) = result { failures.append(error.code) } }
    #expect(failures == [.originUnreachable])
  }

  private final class NoSender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
  }
}

/// Servers that misbehave: a task gets the same response or the same error as without the cache. Left out are trailers
/// after chunked content and a header that is cut short, because `URLSession` ends the process there.
@Suite(.timeLimit(.minutes(10))) struct MisbehavingServerTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let response: TestResponse

    init(_ name: String, _ response: TestResponse) { (testDescription, self.response) = (name, response) }

    static let all = [
      Case("a length cut short", TestResponse("hello").cut(after: 2)),
      Case("a length too long", TestResponse("hello").claiming(length: 9)),
      Case("chunks cut short", TestResponse("hello").chunked(2).cut(after: 4)),
      Case("content until the end", TestResponse("hello").untilClose()),
      Case("chunks", TestResponse("hello").chunked(2)), Case("no content", TestResponse(status: 204)),
      Case("a chunk without a size", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhe\r\n")),
      Case("nothing", .hangUp), Case("another protocol", .raw("SSH-2.0-x\r\n")),
      Case("a status that is none", .raw("HTTP/1.1 OK\r\n\r\n")),
      Case("a length that is none", .raw("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nhi")),
      Case("two lengths", .raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nhi")),
      Case("content that is not compressed", TestResponse(fields: ["Content-Encoding": "gzip"], "hello")),
      Case("an unknown coding", TestResponse(fields: ["Content-Encoding": "zip"], "hello")),
      Case("a redirection to nowhere", TestResponse(status: 302, "hello")), Case("a server error", .html(503)),
      Case("a 401 of an unknown scheme", TestResponse(status: 401, fields: ["WWW-Authenticate": "Bearer"], "no")),
      Case("repeated fields", .raw("HTTP/1.1 200 OK\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 2\r\n\r\nhi")),
      Case("an interim response", .raw("HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")),
    ]
  }

  @Test(arguments: Case.all) func theTaskGetsTheSameAsWithoutTheCache(_ example: Case) async throws {
    let server = try TestServer { _ in example.response }
    let bench = try await Bench()
    let plain = await Self.result(URLSession(configuration: .ephemeral), server)
    let cached = await Self.result(bench.session(), server)
    #expect(cached == plain)
    #expect(bench.warnings.all.isEmpty)
  }

  @Test func closedPort() async throws {
    let port = try ClosedPort()
    let session = try await Bench().session()
    #expect(await session.failure(port.url) == .cannotConnectToHost)
    #expect(await session.failure("http://no-such-host.invalid") == .cannotFindHost)
  }

  /// A stale response is served if the server cannot be reached and has allowed it.
  @Test func aStaleResponseIsServed() async throws {
    let bench = try await Bench()
    let server = try TestServer(script: [
      TestResponse(fields: ["Cache-Control": "max-age=1, stale-if-error=60"], "hi"), .hangUp,
    ])
    let session = bench.session()
    _ = try await session.get(server.url)
    bench.wait(10)
    let stale = try await session.get(server.url)
    #expect(stale.text == "hi" && stale.fields["age"] == "10")
    // `URLSession` reports a bad response.
    #expect(bench.warnings.all == ["invalidAnswer"])
  }

  private static func result(_ session: URLSession, _ server: TestServer) async -> String {
    do {
      let answer = try await session.get(server.url + "/a")
      return "\(answer.status) \(answer.text) \(answer.fields["x-a"] ?? "")"
    } catch { return (error as? URLError).map { "\($0.code.rawValue)" } ?? "\(error)" }
  }
}
