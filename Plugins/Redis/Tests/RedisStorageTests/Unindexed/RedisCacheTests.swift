import CacheCore
import StorageSPI
import Testing

@testable import HiredisStorage

@Suite("A store on a server that evicts by itself")
struct RedisCacheTests {
  private let plugin = RedisPlugin(.evictingServer)

  private func configuration(_ server: RedisServer) throws -> EngineConfiguration {
    try EngineConfiguration(for: plugin.declaration, values: patient(server.url), clock: SystemClock())
  }

  @Test("It takes whatever comes; what is left can be read and listed", arguments: ["allkeys-lru", "allkeys-lfu"])
  func evicts(_ policy: String) async throws {
    let server = try RedisServer(["--maxmemory", "8mb", "--maxmemory-policy", policy])
    let engine = try await plugin.open(server.url)
    for start in stride(from: 0, to: 20_000, by: 100) {
      var batch = WriteBatch()
      batch.bounds = StoreBounds(maxEntries: 1, maxPayloadBytes: 1)
      for number in start..<start + 100 {
        batch.put(
          try CacheKey("cities/\(number)"), payload: Array("\(number)".utf8) + .init(repeating: 7, count: 1_000),
          metadata: .sample())
      }
      try await engine.apply(batch)
    }
    let keys = try await engine.keys()
    #expect((1_000..<10_000).contains(keys.count), "\(keys.count) of 20,000 are left")
    // Calls take memory too, for which the server evicts more.
    let counted = try await engine.count().entries
    #expect((1...keys.count).contains(counted), "\(counted) of \(keys.count) are counted")
    var texts: [String] = []
    for key in keys.suffix(200) {
      guard let text = try await engine.text(key) else { continue }
      #expect(text.hasPrefix(String(key.dropFirst(7))))
      texts.append(text)
    }
    #expect(!texts.isEmpty)
    #expect(try await engine.check().map(\.message) == [])
    #expect(try await plugin.inspect(configuration(server)).caution == nil)
    try await engine.close()
  }

  @Test("A check names what is wrong with the server")
  func caution() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    #expect(try await plugin.inspect(configuration(server)).exists == false)
    try await engine.put("cities/a", "1")
    let inspection = try await plugin.inspect(configuration(server))
    #expect((inspection.exists, inspection.format) == (true, 1))
    #expect(inspection.caution == "nothing bounds the store: give the server a maxmemory")
    try server.ask("CONFIG", "SET", "maxmemory", "100mb")
    let caution = "the server's maxmemory-policy is noeviction, and should be allkeys-lru or allkeys-lfu"
    #expect(try await plugin.inspect(configuration(server)).caution == caution)
    try await engine.close()
  }

  @Test("Neither engine opens a store of the other")
  func tables() async throws {
    let server = try RedisServer()
    let other = try await RedisPlugin().open(server.url)
    try await other.put("cities/a", "1")
    #expect(await code { _ = try await plugin.open(server.url) } == .unsupportedFormat)
    try await refuses(plugin, server, "cachectl")
    #expect(try await other.text("cities/a") == "1")
    try await other.close()
    let engine = try await plugin.open(server.url, ["prefix": .text("own")])
    try await engine.put("cities/a", "1")
    #expect(await code { _ = try await RedisPlugin().open(server.url, ["prefix": .text("own")]) } == .unsupportedFormat)
    try await refuses(RedisPlugin(), server, "own")
    #expect(try await engine.text("cities/a") == "1")
    try await engine.close()
  }

  /// Expects the engine to refuse to remove the other engine's store.
  private func refuses(_ plugin: RedisPlugin, _ server: RedisServer, _ prefix: String) async throws {
    let configuration = try EngineConfiguration(
      for: plugin.declaration, values: patient(server.url, ["prefix": .text(prefix)]), clock: SystemClock())
    #expect(await code { try await plugin.removeStore(configuration) } == .unsupportedFormat)
  }

  @Test("What is damaged is named and can be removed, and a store is removed as a whole")
  func damage() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    for key in ["cities/a", "cities/b", "cities/c"] { try await engine.put(key, "1") }
    try server.ask("APPEND", "cachectl:cities/a", "x")
    try server.ask("DEL", "cachectl:cities/b")
    try server.ask("RPUSH", "cachectl:cities/b", "text")
    try server.ask("SET", "cachectl2:cities/a", "of another program")
    #expect(try await engine.check().map { $0.key?.text } == ["cities/a", "cities/b"])
    #expect(await code { _ = try await engine.keys() } == .damaged)
    let administration = StoreAdministration(EntryStore(engine: engine, clock: SystemClock()))
    let keys = try ["cities/a", "cities/b"].map { try CacheKey($0) }
    #expect(try await administration.change(.remove, keys: keys, dryRun: false).entries == 2)
    #expect(try await engine.keys() == ["cities/c"])
    try await plugin.removeStore(configuration(server))
    #expect(try await engine.keys() == [])
    #expect(try server.ask("EXISTS", "cachectl2:cities/a").integer == 1)
    try await engine.close()
  }

  @Test("Characters of a pattern in a key mean themselves, and a listing goes on where it ended")
  func patterns() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    let keys = ["url/a*b", "url/a[b]", "url/a?b", "url/a\\b", "url/axb"]
    for key in keys { try await engine.put(key, "1") }
    for key in keys {
      #expect(try await engine.scan(ScanRequest(prefix: key, limit: 2)).entries.map(\.key.text) == [key])
    }
    var found: [String] = []
    var request = ScanRequest(limit: 2)
    repeat {
      let page = try await engine.scan(request)
      found += page.entries.map(\.key.text)
      request.position = page.next
    } while request.position != nil
    #expect(found == keys.sorted())
    try await engine.close()
  }
}
