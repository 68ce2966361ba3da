import StorageSPI
import Testing

@testable import HiredisStorage

/// Entries that the server has dropped before their time, as `volatile-ttl` does for want of memory, and whose lines are
/// still in the index.
@Suite("A server drops entries for want of memory")
struct RedisGhostTests {
  private let plugin = RedisPlugin()

  /// A store of `count` entries, all of which the server drops but for the first.
  private func haunted(_ count: Int) async throws -> (RedisServer, any StorageEngine) {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    var batch = WriteBatch()
    for number in 0..<count { batch.put(try CacheKey("cities/\(10_000 + number)"), payload: [1], metadata: .sample()) }
    try await engine.apply(batch)
    for number in 1..<count { try server.ask("UNLINK", "cachectl:cities/\(10_000 + number)") }
    return (server, engine)
  }

  @Test("A scan forgets the lines of entries that are gone, and finds what is behind thousands of them")
  func scan() async throws {
    let (server, engine) = try await haunted(3_000)
    try await engine.put("movies/a", "12")
    let page = try await engine.scan(ScanRequest(after: "cities/10000", limit: 1))
    #expect(page.entries.map(\.key.text) == ["movies/a"] && page.next == nil)
    #expect(try server.ask("ZCARD", "cachectl:index").integer == 2)
    #expect(try await engine.count().entries == 2)
    #expect(try await engine.check().map(\.message) == [])
    try await engine.close()
  }

  @Test("Compacting forgets all of them")
  func compact() async throws {
    let (server, engine) = try await haunted(2_500)
    try await engine.compact()
    #expect(try server.ask("ZCARD", "cachectl:index").integer == 1)
    #expect(try await engine.count().entries == 1)
    try await engine.close()
  }

  @Test("Each write forgets a few, so that they never become many")
  func write() async throws {
    let (server, engine) = try await haunted(200)
    for number in 0..<400 { try await engine.put("movies/\(number % 10)", "1") }
    let lines = try #require(try server.ask("ZCARD", "cachectl:index").integer)
    #expect(lines < 100, "\(lines) lines for 11 entries")
    #expect(try await engine.check().allSatisfy { $0.message.contains("it is gone") })
    try await engine.close()
  }

  @Test("A batch forgets as many as its entries would one by one")
  func batch() async throws {
    let (server, engine) = try await haunted(2_000)
    var batch = WriteBatch()
    for number in 0..<1_000 { batch.put(try CacheKey("movies/\(number)"), payload: [1], metadata: .sample()) }
    try await engine.apply(batch)
    let lines = try #require(try server.ask("ZCARD", "cachectl:index").integer)
    // 1,001 are live. A thousand single writes would look at 8,000 lines.
    #expect(lines < 2_000, "\(lines) lines")
    #expect(try await engine.check().allSatisfy { $0.message.contains("it is gone") })
    try await engine.close()
  }

  @Test("A server whose memory is full of the lines of dropped entries takes new ones again")
  func full() async throws {
    let server = try RedisServer(["--maxmemory", "6mb", "--maxmemory-policy", "volatile-ttl"])
    let engine = try await plugin.open(server.url)
    for start in stride(from: 0, to: 30_000, by: 100) {
      var batch = WriteBatch()
      for number in start..<start + 100 {
        batch.put(
          try CacheKey("cities/v1/page=\(number)"), payload: .init(repeating: 7, count: 200), metadata: .sample())
      }
      try await engine.apply(batch)
    }
    let live = try await engine.keys().count
    #expect(live > 0)
    #expect(try await engine.count().entries >= live)
    #expect(try await engine.check().allSatisfy { $0.message.contains("it is gone") })
    for table in ["index", "tally"] {
      #expect(try server.ask("PTTL", "cachectl:\(table)").integer == -1, "\(table) may be dropped like an entry")
    }
    try await engine.put("cities/last", "1")
    #expect(try await engine.text("cities/last") == "1")
    try await engine.close()
  }

  @Test("A tally that cannot be read keeps no scan from what is there")
  func unreadableTally() async throws {
    let (server, engine) = try await haunted(10)
    try server.ask("HSET", "cachectl:tally", "cities/", "many")
    #expect(try await engine.keys() == ["cities/10000"])
    #expect(await code { _ = try await engine.put("cities/a", "1") } == .damaged)
    try await engine.close()
  }
}
