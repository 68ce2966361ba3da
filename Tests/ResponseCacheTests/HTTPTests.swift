import MemoryStorage
import ResponseCache
import ResponseCacheTesting
import SQLiteStorage
import EngineAPI
import HTTPCaching
import Synchronization
import Testing

@Suite struct HTTPTests {
  /// The memory engine, which the test can reach past the cache.
  final class KeptPlugin: StoragePlugin {
    let engine = Mutex<(any StorageEngine)?>(nil)
    var declaration: EngineDeclaration { MemoryPlugin().declaration }

    func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
      let engine = try await MemoryPlugin().open(configuration)
      self.engine.withLock { $0 = engine }
      return engine
    }
  }

  struct NoNetwork: Error {}

  let clock = ManualClock()
  let request = HTTP.Request(url: "http://server.example/a")
  let server = FakeOrigin { (_: HTTP.Request) in
    HTTP.Response(HTTP.ResponseHead(status: 200, fields: ["cache-control": "max-age=60"]), body: [1, 2])
  }

  @Test func aResponseIsUsedAsLongAsItsServerSays() async throws {
    let cache = try await Cache.inMemory(clock: clock)
    for _ in 0..<3 { #expect(try await cache.response(to: request, over: server).body == [1, 2]) }
    #expect(server.queries.count == 1)
    clock.advance(by: .seconds(60))
    for try await snapshot in cache.responses(to: request, over: server) {
      #expect(snapshot.value.response.head.fields["cache-status"]?.hasPrefix("ResponseCache; fwd=stale") == true)
    }
    #expect(server.queries.count == 2)
    try await cache.removeAll()
    let error = await #expect(throws: CacheError.self) {
      _ = try await cache.response(to: request, over: server, policy: .cacheOnly)
    }
    #expect(error?.code == .notCached)
    #expect(server.queries.count == 2)
  }

  /// The key that distinguishes parties is next to the store. So a later process finds the responses of an earlier one.
  @Test func eachPartyFindsItsOwnResponseAgain() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    var secret = HTTP.Request(url: request.url, fields: ["X-Key": "alice"])
    secret.secretFields = ["X-Key"]
    let requests = [HTTP.Request(url: request.url, fields: ["Cookie": "a=1"]), secret, request]
    for _ in 1...2 {
      let cache = try await Cache(.sqlite(path: folder.path + "/a.sqlite"), clock: clock)
      for request in requests { _ = try await cache.response(to: request, over: server) }
      try await cache.close()
    }
    #expect(server.queries.count == requests.count)
    let other = try await Cache(.sqlite(path: folder.path + "/b.sqlite"), clock: clock)
    _ = try await other.response(to: requests[0], over: server)
    try await other.close()
    #expect(server.queries.count == requests.count + 1)
  }

  @Test func cachedResponsesOfAURLAreRemoved() async throws {
    let cache = try await Cache.inMemory(clock: clock)
    let other = HTTP.Request(url: "http://server.example/b")
    for request in [request, other] { _ = try await cache.response(to: request, over: server) }
    #expect(try await cache.removeResponses(to: "HTTP://server.example:80/a#part") == 1)
    #expect(try await cache.removeResponses(to: request.url) == 0)
    _ = try await cache.response(to: other, over: server, policy: .cacheOnly)
    let error = await #expect(throws: CacheError.self) { try await cache.removeResponses(to: "file:///a") }
    #expect(error?.code == .invalidRequest)
  }

  /// A request need not have the URL in its normal form.
  @Test(arguments: [
    "HTTP://Server.example:80/%61", "http://server.example/x/../a#b", "http://server.example/%2e/a",
  ])
  func spellingsOfAURLShareAnEntry(url: String) async throws {
    let cache = try await Cache.inMemory(clock: clock)
    _ = try await cache.response(to: HTTP.Request(url: url), over: server)
    _ = try await cache.response(to: request, over: server, policy: .cacheOnly)
    #expect(server.queries.count == 1)
    #expect(try await cache.removeResponses(to: request.url) == 1)
    _ = try await cache.response(to: request, over: server)
    let post = HTTP.Request(method: "POST", url: url)
    _ = try await cache.response(to: post, over: server)
    #expect(try await cache.removeResponses(to: url) == 0)
  }

  /// The engine lists the entry, but its payload has changed.
  @Test func aPartTakesThePlaceOfADamagedResponse() async throws {
    let plugin = KeptPlugin()
    let cache = try await Cache(StorageLocation(plugin), clock: clock)
    _ = try await cache.response(to: request, over: server)
    let kept = plugin.engine.withLock { $0 }
    let engine = try #require(kept)
    let entry = try #require(try await engine.scan(ScanRequest(prefix: "url/", limit: 1)).entries.first)
    var batch = WriteBatch()
    batch.put(entry.key, payload: [9, 9], metadata: entry.metadata)
    try await engine.apply(batch)

    let part = FakeOrigin { (_: HTTP.Request) in
      HTTP.Response(
        HTTP.ResponseHead(status: 206, fields: ["cache-control": "max-age=60", "content-range": "bytes 0-0/2"]),
        body: [1])
    }
    let range = HTTP.Request(url: request.url, fields: ["Range": "bytes=0-0"])
    for _ in 0..<2 { #expect(try await cache.response(to: range, over: part).body == [1]) }
    #expect(part.queries.count == 1)
  }

  @Test func aStaleResponseIsServedIfTheServerCannotBeReached() async throws {
    let cache = try await Cache.inMemory(clock: clock)
    _ = try await cache.response(to: request, over: server)
    clock.advance(by: .seconds(120))
    server.fail(with: NoNetwork())
    #expect(try await cache.response(to: request, over: server).body == [1, 2])
    try await cache.removeAll()
    let error = await #expect(throws: CacheError.self) { _ = try await cache.response(to: request, over: server) }
    #expect(error?.code == .originUnreachable)
    #expect(error?.cause is NoNetwork)
  }
}
