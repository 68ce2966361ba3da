import ResponseStorage
import StorageConformance
import StorageSPI
import Testing

@testable import HiredisStorage

@Suite("A server evicts in the commit that needs room")
struct RedisEvictionTests {
  private let clock = ManualClock(SystemClock().now)

  /// A store as a machine of its own opens it, with room for 20 entries.
  private func open(_ server: RedisServer) async throws -> EntryStore {
    let engine = try await RedisPlugin().open(server.url)
    return EntryStore(
      engine: engine, clock: clock, limits: StoreLimits(maxEntries: 20, maxBytes: 1_000_000), removesExpired: false)
  }

  private func key(_ number: Int) throws -> CacheKey { try CacheKey("cities/\(number)") }

  private func put(_ numbers: Range<Int>, _ store: EntryStore) async throws {
    for number in numbers {
      clock.advance(by: .milliseconds(1))
      let end = clock.now.advanced(by: .seconds(3_600))
      let metadata = EntryMetadata(storedAt: clock.now, freshUntil: end, retainUntil: end, contentType: "text/plain")
      try await store.write(try key(number), payload: [1], metadata: metadata)
    }
  }

  private func held(_ server: RedisServer) throws -> Set<String> {
    Set(try server.cli("--raw", "KEYS", "cachectl:cities/*").split(separator: "\n").map { String($0.dropFirst(16)) })
  }

  @Test("What one machine reads, another one does not evict")
  func knowsTheUsesOfOthers() async throws {
    let server = try RedisServer()
    let (reader, writer) = (try await open(server), try await open(server))
    try await put(0..<20, writer)
    clock.advance(by: .milliseconds(1))
    for number in 0..<10 { reader.countLookUp(try key(number)) }
    try await reader.close()
    try await put(20..<30, writer)
    #expect(try held(server) == Set((Array(0..<10) + Array(20..<30)).map { "\($0)" }))
    #expect(writer.operations.current.evictions == 10)
    try await writer.close()
  }

  @Test("On a cluster too, a store whose limits were lowered is within them after the next write")
  func lowered() async throws {
    let cluster = try RedisCluster.shared.get()
    let prefix = "lowered-" + String(UInt64.random(in: 0 ... .max), radix: 16)
    let engine = try await RedisPlugin(.cluster).open(cluster.url, ["prefix": .text(prefix)])
    func store(_ maxEntries: Int) -> EntryStore {
      let limits = StoreLimits(maxEntries: maxEntries, maxBytes: 1_000_000)
      return EntryStore(engine: engine, clock: clock, limits: limits, removesExpired: false)
    }
    try await put(0..<400, store(1_000))
    let redis = RedisStore(try options(.cluster, cluster.url, ["prefix": .text(prefix)]))
    try redis.checkFormat()
    #expect(try redis.total(except: nil) == redis.count().total && redis.count().total.entries == 400)
    #expect(try redis.total(except: "cities").entries == 0)
    try await put(400..<401, store(100))
    let left = try await engine.statistics().entries
    #expect((50...100).contains(left), "\(left) entries are left")
    try await engine.close()
  }

  @Test("Entries that cannot be read, or are gone, keep no write from finding room")
  func damage() async throws {
    let server = try RedisServer()
    let store = try await open(server)
    try await put(0..<20, store)
    try server.ask("APPEND", "cachectl:cities/0", "x")
    try server.ask("SET", "cachectl:cities/1", "something else")
    try server.ask("DEL", "cachectl:cities/3", "cachectl:cities/4")
    try server.ask("RPUSH", "cachectl:cities/4", "something else")
    // The lines of what is gone, then what was stored longest ago.
    try await put(20..<23, store)
    #expect(try held(server).isDisjoint(with: ["2", "3", "5"]))
    #expect(try held(server).isSuperset(of: ["0", "1", "4", "6", "20", "21", "22"]))
    try await store.close()
  }
}

@Suite("A cluster evicts in the parts that need room, and in others")
struct RedisClusterEvictionTests {
  private static let size = 100

  /// A batch of some of the entries, which all have the same size.
  private func batch(_ numbers: Range<Int>) throws -> WriteBatch {
    var batch = WriteBatch()
    for number in numbers {
      batch.put(
        try CacheKey("cities/\(number)"), payload: [UInt8](repeating: 1, count: Self.size), metadata: .sample())
    }
    return batch
  }

  @Test(
    "A full store loses little more than what is added, whichever bound it is at, and however many slots are empty",
    arguments: [true, false], [1_000, 20_000])
  func loss(_ isAtBytes: Bool, _ entries: Int) async throws {
    let url = try RedisCluster.shared.get().url
    let engine = try await RedisPlugin(.cluster).open(url, ["prefix": .text("loss-\(isAtBytes)-\(entries)")])
    for start in stride(from: 0, to: entries, by: 1_000) {
      try await engine.apply(try batch(start..<start + 1_000))
    }
    let evictor = try #require(engine.evictor)
    let order = try #require(EvictionPolicy.leastRecentlyStored.order)
    for number in entries..<entries + 300 {
      var batch = try batch(number..<number + 1)
      batch.bounds = StoreBounds(
        maxEntries: isAtBytes ? 1 << 40 : entries,
        maxPayloadBytes: isAtBytes ? entries * Self.size : 1 << 40, exemptNamespace: nil)
      _ = try await evictor.apply(batch, evicting: order)
    }
    let held = try await engine.statistics().entries
    #expect((entries - 30...entries).contains(held))
    try await engine.close()
  }
}
