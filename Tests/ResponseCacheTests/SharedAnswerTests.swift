import HTTPCaching
import MemoryStorage
import ResponseCache
import ResponseCacheTesting
@testable import CacheCore
import EngineAPI
import Synchronization
import Testing

/// Callers that ask for the same thing at the same time, where the answer cannot be stored.
@Suite(.timeLimit(.minutes(30))) struct SharedAnswerTests {
  private static let callers = 5
  private static let tooLong = String(repeating: "long", count: 1_000)

  private let coalescer = RequestCoalescer()

  /// A cache for entries of up to 100 bytes.
  private func cache() async throws -> Cache {
    let clock = ManualClock()
    let store = EntryStore(
      engine: try await StorageLocation.memory.open(clock: clock), clock: clock, limits: StoreLimits(maxBytes: 100))
    return Cache(
      store: store,
      services: FetchServices(
        rules: HTTPCacheRules(freshness: .standard), now: { clock.now.sinceEpoch }, coalescer: coalescer),
      warn: { _ in })
  }

  /// What all callers get of `fetch`, if `origin` answers once one of them has asked and the others wait.
  private func together<Query, Answer, Value: Sendable>(
    _ origin: FakeOrigin<Query, Answer>, _ fetch: @escaping @Sendable () async throws -> Value
  ) async throws -> [Value] {
    origin.hold()
    return try await withThrowingTaskGroup(of: Value.self) { group in
      for _ in 0..<Self.callers { group.addTask { try await fetch() } }
      await origin.arrival(of: 1)
      while coalescer.waiters() < Self.callers - 1 {
        try Task.checkCancellation()
        await Task.yield()
      }
      origin.release()
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  @Test(arguments: [("short", 60), (tooLong, 60), ("short", 0), (tooLong, 0)])
  func aClosureIsCalledOnceWhetherItsValueCanBeKeptOrNot(value: String, lifetime: Int) async throws {
    let origin = FakeOrigin { (_: Int) in value }
    let texts = try await cache().resource(
      "texts", freshFor: .seconds(lifetime), staleIfError: .zero, fetch: origin.fetch)
    let values = try await together(origin) { try await texts(1) }
    #expect(values == Array(repeating: value, count: Self.callers))
    #expect(origin.queries == [1])
  }

  /// RFC 9111, section 4: a response that the cache may not store, or must validate before each use, answers no other
  /// request.
  @Test(arguments: [
    ("max-age=60", "short", 1), ("max-age=60", tooLong, 1), ("private, max-age=60", tooLong, 1),
    ("no-store", "short", callers), ("max-age=0", tooLong, callers), ("max-age=60, no-cache", tooLong, callers),
    ("", tooLong, callers),
  ])
  func aResponseIsSharedIfItMayBeReused(directives: String, content: String, requests: Int) async throws {
    let server = FakeOrigin { (_: HTTPRequest) in
      HTTPResponse(
        HTTPResponseHead(status: 200, fields: directives.isEmpty ? [:] : ["cache-control": directives]),
        body: Array(content.utf8))
    }
    let (cache, request) = (try await cache(), HTTPRequest(url: "http://server.example/a"))
    let responses = try await together(server) { try await cache.response(to: request, over: server) }
    #expect(responses.map(\.body) == Array(repeating: Array(content.utf8), count: Self.callers))
    #expect(server.queries.count == requests)
    // A response that was stored is a hit for the callers that waited for it.
    let collapsed = responses.filter { ($0.head.fields["cache-status"] ?? "").contains("; collapsed") }
    #expect(collapsed.count == (content == "short" ? 0 : Self.callers - requests))
  }

  @Test(arguments: [(false, 1), (true, 2)])
  func aCacheForSeveralUsersKeepsNoPrivateResponse(isShared: Bool, requests: Int) async throws {
    let server = FakeOrigin { (_: HTTPRequest) in
      HTTPResponse(HTTPResponseHead(status: 200, fields: ["cache-control": "private, max-age=60"]), body: [1])
    }
    let cache = try await Cache(.memory, isShared: isShared)
    for _ in 0..<2 { _ = try await cache.response(to: HTTPRequest(url: "http://server.example/a"), over: server) }
    #expect(server.queries.count == requests)
  }

  /// Two types of value under one name are a mistake, but each caller gets its own.
  @Test func anAnswerOfAnotherTypeIsNotShared() async throws {
    let (cache, origin) = (try await cache(), FakeOrigin { (_: Int) in Self.tooLong })
    let numbers = FakeOrigin { (_: Int) in Array(0..<1_000) }
    let texts = cache.resource("texts", fetch: origin.fetch)
    let others = cache.resource("texts", fetch: numbers.fetch)
    origin.hold()
    let first = Task { try await texts(1) }
    await origin.arrival(of: 1)
    let second = Task { try await others(1) }
    while coalescer.waiters() < 1 {
      try Task.checkCancellation()
      await Task.yield()
    }
    origin.release()
    #expect(try await first.value == Self.tooLong)
    #expect(try await second.value.count == 1_000)
  }
}
