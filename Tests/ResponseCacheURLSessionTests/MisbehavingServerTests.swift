import Foundation
import FoundationNetworking
import ResponseCacheURLSession
import TestOrigin
import Testing

/// Servers that misbehave: a task gets what it would get without the cache, the same response or the same error. Left out
/// are trailers after chunked content and a header that is cut short, because `URLSession` ends the process there.
@Suite(.timeLimit(.minutes(10)))
struct MisbehavingServerTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let response: TestResponse

    init(_ name: String, _ response: TestResponse) { (testDescription, self.response) = (name, response) }

    static let all = [
      Case("a length cut short", TestResponse("hello").cut(after: 2)),
      Case("a length too long", TestResponse("hello").claiming(length: 9)),
      Case("chunks cut short", TestResponse("hello").chunked(2).cut(after: 4)),
      Case("content until the end", TestResponse("hello").untilClose()),
      Case("chunks", TestResponse("hello").chunked(2)),
      Case("no content", TestResponse(status: 204)),
      Case("a chunk without a size", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhe\r\n")),
      Case("nothing", .hangUp),
      Case("another protocol", .raw("SSH-2.0-x\r\n")),
      Case("a status that is none", .raw("HTTP/1.1 OK\r\n\r\n")),
      Case("a length that is none", .raw("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nhi")),
      Case("two lengths", .raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nhi")),
      Case("content that is not compressed", TestResponse(fields: ["Content-Encoding": "gzip"], "hello")),
      Case("an unknown coding", TestResponse(fields: ["Content-Encoding": "zip"], "hello")),
      Case("a redirection to nowhere", TestResponse(status: 302, "hello")),
      Case("a server error", .html(503)),
      Case("a 401 of an unknown scheme", TestResponse(status: 401, fields: ["WWW-Authenticate": "Bearer"], "no")),
      Case("repeated fields", .raw("HTTP/1.1 200 OK\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 2\r\n\r\nhi")),
      Case("an interim response", .raw("HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")),
    ]
  }

  @Test(arguments: Case.all)
  func theTaskGetsWhatItWouldGetWithoutTheCache(_ example: Case) async throws {
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

  /// A stale response answers for a server that is away, if the server has allowed it.
  @Test func aStaleResponseStandsIn() async throws {
    let bench = try await Bench()
    let server = try TestServer(script: [
      TestResponse(fields: ["Cache-Control": "max-age=1, stale-if-error=60"], "hi"), .hangUp,
    ])
    let session = bench.session()
    _ = try await session.get(server.url)
    bench.wait(10)
    let stale = try await session.get(server.url)
    #expect(stale.text == "hi" && stale.fields["age"] == "10")
    // What `URLSession` reports is a bad response.
    #expect(bench.warnings.all == ["invalidAnswer"])
  }

  private static func result(_ session: URLSession, _ server: TestServer) async -> String {
    do {
      let answer = try await session.get(server.url + "/a")
      return "\(answer.status) \(answer.text) \(answer.fields["x-a"] ?? "")"
    } catch {
      return (error as? URLError).map { "\($0.code.rawValue)" } ?? "\(error)"
    }
  }
}
