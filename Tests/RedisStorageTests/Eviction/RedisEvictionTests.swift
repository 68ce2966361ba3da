import EngineConformance
import EngineAPI
import Testing

@testable import RedisStorage

@Suite("The server evicts, and drops expired entries")
struct RedisEvictionTests {
  private let plugin = RedisPlugin()

  @Test(
    "It takes every entry, and the remaining ones can be read and listed", arguments: ["allkeys-lru", "allkeys-lfu"])
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
    var found = 0
    for key in keys.suffix(200) {
      guard let text = try await engine.text(key) else { continue }
      #expect(text.hasPrefix(String(key.dropFirst(7))))
      found += 1
    }
    #expect(found > 0)
    #expect(try await engine.check().map(\.message) == [])
    try await engine.close()
  }

  @Test("The server drops an entry when its time is over, and never one without an end")
  func nativeExpiry() async throws {
    let server = try RedisServer()
    let clock = ManualClock(SystemClock().now)
    let engine = try await plugin.open(try configuration(server.url, clock: clock))
    let end = clock.now.advanced(by: .seconds(7_200))
    try await engine.put("cities/long", "12345", .sample(retainUntil: end))
    try await engine.put("cities/ever", "1", .sample(retainUntil: .distantFuture))
    #expect(try server.ask("PEXPIRETIME", "cachectl:cities/long").integer == end.milliseconds)
    #expect(try server.ask("PTTL", "cachectl:cities/ever").integer == -1)
    // By a clock that is two hours late, the next entry ends in two minutes; by the server's, two seconds ago.
    clock.set(SystemClock().now.advanced(by: .seconds(-7_200)))
    try await engine.put("cities/short", "1", .sample(retainUntil: clock.now.advanced(by: .seconds(120))))
    #expect(try await engine.text("cities/short") == nil)
    #expect(try await engine.keys().sorted() == ["cities/ever", "cities/long"])
    let count = try await engine.count()
    #expect((count.entries, count.payloadBytes) == (2, 6))
    try await engine.close()
  }

  @Test(
    "An entry that ends sooner stays a minute, because clocks differ, and because a lease that has run out must be seen"
  )
  func shortestStay() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    let start = SystemClock().now.milliseconds
    for (key, end) in [("cities/a", Timestamp(milliseconds: 0)), ("cities/b", SystemClock().now)] {
      try await engine.put(key, "1", .sample(retainUntil: end))
      #expect(try await engine.text(key) == "1")
      let kept = try #require(try server.ask("PEXPIRETIME", "cachectl:\(key)").integer)
      #expect((start + 60_000...SystemClock().now.milliseconds + 60_000).contains(kept))
    }
    var batch = WriteBatch()
    batch.update(
      try CacheKey("cities/b"), metadata: .sample(checksum: 2, retainUntil: Timestamp(milliseconds: 1)), from: 1)
    try await engine.apply(batch)
    #expect(try #require(try server.ask("PTTL", "cachectl:cities/b").integer) > 0)
    // By this machine's clock they have expired.
    try await engine.compact()
    #expect(try server.ask("DBSIZE").integer == 0)
    try await engine.close()
  }

  @Test("An update moves the end of an entry, and gives it one or takes it away")
  func updatedEnd() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    let (key, name) = (try CacheKey("cities/a"), "cachectl:cities/a")
    func update(from checksum: UInt64, to end: Timestamp, contentType: String = "application/json") async throws {
      var metadata = EntryMetadata.sample(checksum: checksum + 1, retainUntil: end)
      metadata.contentType = contentType
      var batch = WriteBatch()
      batch.update(key, metadata: metadata, from: checksum)
      try await engine.apply(batch)
      #expect(try await engine.text("cities/a") == "text")
    }
    try await engine.put("cities/a", "text")
    try await update(from: 1, to: .distantFuture)
    #expect(try server.ask("PTTL", name).integer == -1)
    let end = SystemClock().now.advanced(by: .seconds(500))
    try await update(from: 2, to: end)
    #expect(try server.ask("PEXPIRETIME", name).integer == end.milliseconds)
    // Its bytes are written again if they become fewer or more.
    for (number, type) in ["", "text/html; charset=utf-8", "x"].enumerated() {
      let end = end.advanced(by: .seconds(number))
      try await update(from: UInt64(3 + number), to: end, contentType: type)
      #expect(try server.ask("PEXPIRETIME", name).integer == end.milliseconds)
    }
    try await engine.close()
  }
}

@Suite("A server has no room left, and evicts nothing")
struct RedisRoomTests {
  private let plugin = RedisPlugin()

  @Test("It says so, and nothing of a batch is made", arguments: ["noeviction", "volatile-lru"])
  func noRoom(_ policy: String) async throws {
    let server = try RedisServer(["--maxmemory-policy", policy])
    let engine = try await plugin.open(server.url)
    let lasting = EntryMetadata.sample(retainUntil: .distantFuture)
    for key in ["cities/a", "cities/b"] { try await engine.put(key, "1", lasting) }
    try server.ask("CONFIG", "SET", "maxmemory", "1")
    var batch = WriteBatch()
    batch.remove(try CacheKey("cities/a"))
    batch.put(try CacheKey("cities/b"), payload: [2], metadata: lasting)
    batch.put(try CacheKey("cities/c"), payload: [2], metadata: lasting)
    var update = WriteBatch()
    update.update(try CacheKey("cities/a"), metadata: .sample(checksum: 2), from: 1)
    for batch in [batch, update] { #expect(await engine.failure(of: batch) == .noSpace) }
    for key in ["cities/a", "cities/c"] { #expect(await code { try await engine.put(key, "2") } == .noSpace) }
    #expect(try await engine.keys().sorted() == ["cities/a", "cities/b"])
    try server.ask("CONFIG", "SET", "maxmemory", "0")
    for key in ["cities/a", "cities/b"] { #expect(try await engine.text(key) == "1") }
    #expect(try await engine.check().isEmpty)
    try await engine.close()
  }

  /// A change that needs no room.
  enum Relief: CaseIterable {
    case removal, conditionalRemoval, compaction, counting, removalOfStore
  }

  @Test("Without room, removals still succeed", arguments: Relief.allCases)
  func relief(_ relief: Relief) async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    let key = try CacheKey("cities/a")
    try await engine.put("cities/a", "1", .sample(checksum: 7, retainUntil: Timestamp(milliseconds: 1)))
    try await engine.put("cities/b", "1")
    try server.ask("CONFIG", "SET", "maxmemory", "1")
    #expect(await code { try await engine.put("cities/d", "2") } == .noSpace)
    var batch = WriteBatch()
    if relief == .conditionalRemoval { batch.require(key, .checksum(7)) }
    batch.remove(key)
    switch relief {
    case .removal, .conditionalRemoval: try await engine.apply(batch)
    case .compaction: try await engine.compact()
    case .counting: #expect(try await engine.count().entries == 2)
    case .removalOfStore: try await plugin.removeStore(configuration(server.url))
    }
    #expect(try await engine.text("cities/a") == (relief == .counting ? "1" : nil))
    #expect(try await engine.text("cities/b") == (relief == .removalOfStore ? nil : "1"))
    #expect(await code { try await engine.put("cities/d", "2") } == .noSpace)
    try await engine.close()
  }
}
