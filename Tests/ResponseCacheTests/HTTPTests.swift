import CachedFetching
import ResponseCache
import ResponseCacheTesting
import Synchronization
import Testing

@Suite struct HTTPTests {
  /// Answers every request with the same response, and counts.
  final class FakeTransport: DataTransferService {
    let response: HTTPResponse
    private let requests = Mutex(0)

    init(_ response: HTTPResponse) { self.response = response }

    var count: Int { requests.withLock { $0 } }

    func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
      requests.withLock { $0 += 1 }
      return response
    }
  }

  @Test func aResponseIsUsedAsLongAsItsServerSays() async throws {
    let clock = ManualClock(.start)
    let cache = try await Cache.inMemory(clock: clock)
    let transport = FakeTransport(
      HTTPResponse(HTTPResponseHead(status: 200, fields: ["cache-control": "max-age=60"]), body: [1, 2]))
    let request = HTTPRequest(url: "http://server.example/a")
    for _ in 0..<3 { #expect(try await cache.response(to: request, over: transport).body == [1, 2]) }
    #expect(transport.count == 1)
    clock.advance(by: .seconds(60))
    for try await snapshot in cache.responses(to: request, over: transport) {
      #expect(snapshot.value.response.head.fields["cache-status"]?.contains("fwd=stale") == true)
    }
    #expect(transport.count == 2)
    try await cache.removeAll()
    let error = await #expect(throws: CacheError.self) {
      _ = try await cache.response(to: request, over: transport, options: FetchOptions(policy: .cacheOnly))
    }
    #expect(error?.code == .notCached)
    #expect(transport.count == 2)
  }
}
