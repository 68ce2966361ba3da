import Foundation
import StorageSPI
import Testing

@testable import HiredisStorage

@Suite("What is on the server")
struct RedisLayoutTests {
  private let plugin = RedisPlugin()

  @Test("A store of nothing but passing entries goes by itself, and one with lasting entries never")
  func abandoned() async throws {
    let server = try RedisServer()
    let engine = try await RedisPlugin().open(server.url)
    let now = SystemClock().now
    let tables = ["index", "tally"].map { "cachectl:\($0)" }
    for _ in 0..<2 { try await engine.put("cities/a", "1", .sample(retainUntil: now.advanced(by: .seconds(7_200)))) }
    for table in tables {
      // The end of the last entry's slot.
      let end = ((now.milliseconds + 7_200_000) >> 20 + 1) << 20 + 2 * patience
      #expect(try server.ask("PEXPIRETIME", table).integer == end, "\(table)")
    }
    try await engine.put("cities/b", "1", .sample(retainUntil: now.advanced(by: .seconds(86_400))))
    for table in tables { #expect(try server.ask("PTTL", table).integer == -1, "\(table)") }
    var batch = WriteBatch()
    for key in ["cities/a", "cities/b"] { batch.remove(try CacheKey(key)) }
    for _ in 0..<2 { try await engine.apply(batch) }
    try await engine.put("cities/a", "2", .sample(retainUntil: now.advanced(by: .seconds(7_200))))
    for table in tables { #expect(try server.ask("PTTL", table).integer ?? 0 > 0, "\(table)") }
    try await engine.close()
  }

  @Test("redis-cli shows what the README says")
  func view() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    let retained = Timestamp(milliseconds: 4_102_444_800_000)
    let metadata = EntryMetadata(
      storedAt: Timestamp(milliseconds: 1_767_225_600_000), freshUntil: Timestamp(milliseconds: 1_767_229_200_000),
      retainUntil: retained, contentType: "application/json", attributes: ["etag": "W/\"5e1\""],
      payloadChecksum: 254, checksum: 255)
    try await engine.put("cities/v1/page=0", "{\"page\":0}", metadata)
    let name = "cachectl:cities/v1/page=0"
    let shown = try server.cli("--no-raw", "GET", name)
    #expect(
      shown == #""{\"page\":0}application/json{\"etag\":\"W/\\\"5e1\\\"\"}\x00\x00\x00\x14"#
        + #"\x01\x9bv\xda\xa8\x00\x01\x9bw\x11\x96\x80\x03\xbb,\xc3\xd8\x00\x00\x00\x00\x00\x00\x00\x00\xff"#
        + #"\x00\x00\x00\x00\x00\x00\x00\xfe\x00\x00\x10\x03""#, "\(shown)")
    #expect(try server.cli("--raw", "GETRANGE", name, "0", "9") == "{\"page\":0}")
    #expect(try server.cli("--raw", "PEXPIRETIME", name) == "4102444800000")
    #expect(try server.cli("--raw", "ZRANGE", "cachectl:index", "0", "-1") == "cities/v1/page=0 19b771 3bb2cc a")
    #expect(try server.cli("--raw", "HGET", "cachectl:tally", "cities 19b771 3bb2cc") == "1 10")
    #expect(
      try server.cli("--raw", "HMGET", "cachectl:tally", "cities/", "*", "format", "changes") == "1 10\n1 10\n1\n1")
    #expect(
      try Set(server.cli("--raw", "KEYS", "*").split(separator: "\n")) == [
        name[...], "cachectl:index", "cachectl:tally",
      ])
    try await engine.close()
  }

  @Test("Beside its payload, a small entry takes at most 350 bytes")
  func memory() async throws {
    let server = try RedisServer()
    func used() throws -> Int {
      let lines = try #require(try server.ask("INFO", "memory").text).split(whereSeparator: \.isNewline)
      return try #require(lines.lazy.compactMap { $0.hasPrefix("used_memory:") ? Int($0.dropFirst(12)) : nil }.first)
    }
    let engine = try await plugin.open(server.url)
    let before = try used()
    for start in stride(from: 0, to: 60_000, by: 1_000) {
      var batch = WriteBatch()
      for number in start..<start + 1_000 {
        let end = SystemClock().now.advanced(by: .seconds(86_400))
        batch.put(
          try CacheKey("cities/v1/page=\(number)"), payload: .init(repeating: 7, count: 100),
          metadata: EntryMetadata(storedAt: end, freshUntil: end, retainUntil: end, contentType: "application/json"))
      }
      try await engine.apply(batch)
    }
    let each = (try used() - before) / 60_000
    #expect(each <= 450, "\(each) bytes for each entry of 100")
    try await engine.close()
  }

  @Test("The server drops an entry when its time is over, and it is counted no longer")
  func nativeExpiry() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    try await engine.put("cities/long", "12345")
    try await engine.put("cities/short", "1", .sample(retainUntil: SystemClock().now.advanced(by: .seconds(3))))
    try await engine.put("cities/ever", "1", .sample(retainUntil: .distantFuture))
    #expect(try server.ask("PTTL", "cachectl:cities/ever").integer == -1)
    try await until("the server has dropped the entry") { try await engine.text("cities/short") == nil }
    #expect(try await engine.keys() == ["cities/ever", "cities/long"])
    #expect(try await engine.check().isEmpty)
    let count = try await engine.count()
    #expect((count.entries, count.payloadBytes) == (2, 6))
    #expect(try server.cli("--raw", "ZCARD", "cachectl:index") == "2")
    var batch = WriteBatch()
    batch.require(try CacheKey("cities/short"), .absent)
    try await engine.apply(batch)
    try await engine.close()
  }

  @Test("What remains of a store without entries goes by itself")
  func emptyStoresLeaveNothing() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    var batch = WriteBatch()
    batch.require(try CacheKey("cities/absent"), .absent)
    try await engine.apply(batch)
    #expect(try server.ask("PTTL", "cachectl:tally").integer ?? 0 > 0)
    try await engine.put("cities/a", "1", .sample(retainUntil: .distantFuture))
    #expect(try server.ask("PTTL", "cachectl:tally").integer == -1)
    batch.remove(try CacheKey("cities/a"))
    try await engine.apply(batch)
    try await engine.apply(batch)
    let left = try server.cli("--raw", "KEYS", "*").split(separator: "\n").map(String.init)
    for key in left { #expect(try server.ask("PTTL", key).integer ?? 0 > 0, "\(key)") }
    try await engine.close()
  }

  @Test("Entries that are dropped make room within the bounds")
  func expiryMakesRoom() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    // Late enough for the entries to be written before it also where much else is going on.
    let end = SystemClock().now.advanced(by: .seconds(3))
    var filling = WriteBatch()
    for number in 0..<1_200 {
      filling.put(try CacheKey("cities/\(number)"), payload: [1], metadata: .sample(retainUntil: end))
    }
    try await engine.apply(filling)
    var batch = WriteBatch()
    batch.put(try CacheKey("movies/a"), payload: [1], metadata: .sample())
    batch.bounds = StoreBounds(maxEntries: 1, maxPayloadBytes: 1)
    try await until("the entries have been dropped") { [batch] in
      await code { try await engine.apply(batch) } == nil
    }
    #expect(try await engine.keys() == ["movies/a"])
    #expect(try await engine.count().entries == 1)
    try await engine.close()
  }

  @Test("An entry that is past its time when it is written is kept a minute, whichever clock is wrong")
  func pastItsTime() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    let start = SystemClock().now.milliseconds
    try await engine.put("cities/a", "1", .sample(retainUntil: Timestamp(milliseconds: 1)))
    let end = SystemClock().now.milliseconds
    #expect(try await engine.text("cities/a") == "1")
    let kept = try #require(try server.ask("PEXPIRETIME", "cachectl:cities/a").integer)
    #expect((start + 60_000...end + 60_000).contains(kept))
    try await engine.compact()
    #expect(try await engine.text("cities/a") == nil)
    try await engine.close()
  }

  @Test("Nothing of anybody else is touched or counted")
  func sharedServer() async throws {
    let server = try RedisServer()
    for (name, value) in [
      ("cities/a", "1"), ("cachectl2:index", "2"), ("cachectl", "3"), ("other:cachectl:index", "4"),
    ] {
      try server.ask("SET", name, value)
    }
    try server.ask("ZADD", "cachectl-b:index", "0", "cities/b 1 2 3")
    try server.ask("HSET", "cachectl-b:tally", "format", "1", "cities 1 2", "1 3")
    let foreign = try dump(server)
    let engine = try await plugin.open(server.url)
    for number in 0..<50 { try await engine.put("cities/\(number)", "x") }
    #expect(try await engine.keys().count == 50)
    #expect(try await engine.count().entries == 50)
    for key in try await engine.keys() {
      var batch = WriteBatch()
      batch.remove(try CacheKey(key))
      try await engine.apply(batch)
    }
    try await engine.compact()
    try await engine.close()
    #expect(try dump(server).filter { !$0.key.hasPrefix("cachectl:") } == foreign)
    // Of the commands that look at all names, only the KEYS of this test was used.
    let statistics = try #require(try server.ask("INFO", "commandstats").text)
    #expect(statistics.contains("cmdstat_keys:calls=2,"))
    for command in ["scan", "flushdb", "flushall", "randomkey"] {
      #expect(!statistics.contains("cmdstat_\(command):"), "\(command) was used")
    }
  }

  /// Everything on the server, byte by byte.
  private func dump(_ server: RedisServer) throws -> [String: String] {
    var all: [String: String] = [:]
    for key in try server.cli("--raw", "KEYS", "*").split(separator: "\n") {
      all[String(key)] = try server.cli("DUMP", String(key))
    }
    return all
  }

  @Test("Databases of one server have nothing in common")
  func databases() async throws {
    let server = try RedisServer()
    let (first, second) = (try await plugin.open(server.url), try await plugin.open("\(server.url)/3"))
    try await first.put("cities/a", "1")
    #expect(try await second.keys() == [])
    try await first.close()
    try await second.close()
  }
}

@Suite("The division of a store on a cluster")
struct RedisPartTests {
  @Test("Each slot has a tag of its own, which puts keys there")
  func tags() {
    let tags = (0..<RedisSlot.count).map { RedisSlot.tag(of: $0) }
    #expect(Set(tags).count == RedisSlot.count)
    for (slot, tag) in tags.enumerated() where RedisSlot.number(of: tag.utf8) != slot || tag.utf8.count != 3 {
      Issue.record("slot \(slot) has the tag '\(tag)'")
    }
  }

  @Test("Entries are spread evenly, however many nodes there are", arguments: [3, 10, 100, 1_000])
  func spread(_ nodes: Int) throws {
    let layout = RedisLayout(prefix: "cachectl", isSpread: true)
    var counts = [Int](repeating: 0, count: nodes)
    let entries = 1_000 * nodes
    for number in 0..<entries {
      counts[layout.part(of: try CacheKey("cities/v1/page=\(number)")) * nodes / RedisSlot.count] += 1
    }
    // A node of a thousand has 16 or 17 slots.
    #expect(counts.allSatisfy { (850...1_200).contains($0) }, "\(counts.min() ?? 0) to \(counts.max() ?? 0)")
  }

  @Test(
    "A script is so short that a server which does not know the client yet takes it", arguments: RedisScript.allCases)
  func scripts(_ script: RedisScript) { #expect(script.source.utf8.count < 16_384) }

  @Test("The key of an entry is found in its name")
  func names() throws {
    let key = try CacheKey("cities/v1/page=0")
    for isSpread in [true, false] {
      let layout = RedisLayout(prefix: "cachectl", isSpread: isSpread)
      #expect(layout.key(named: layout.name(of: key)) == key)
      #expect(layout.key(named: "cachectl2:cities/v1/page=0") == nil)
      #expect(layout.key(named: layout.tables(of: 7 % layout.parts.count)[0]) == nil)
    }
    #expect(RedisLayout(prefix: "cachectl", isSpread: true).key(named: "cachectl:{000}:cities/v1/page=0") == nil)
  }
}
