import Foundation
import CacheCore
import StorageSPI
import Testing

@testable import HiredisStorage

@Suite("What is on the server is not what was written")
struct RedisDamageTests {
  private let plugin = RedisPlugin()

  @Test("Every entry is looked at, however many there are")
  func manyEntries() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    var batch = WriteBatch()
    for number in 1_000..<2_234 { batch.put(try CacheKey("cities/\(number)"), payload: [1], metadata: .sample()) }
    try await engine.apply(batch)
    #expect(try await engine.check().map(\.message) == [])
    try server.ask("APPEND", "cachectl:cities/2233", "x")
    #expect(try await engine.check().map { $0.key?.text } == ["cities/2233"])
    try await engine.close()
  }

  @Test("A scan with payloads names an entry that is not as it was written, and can continue after it")
  func amongSeveral() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    for key in ["cities/a", "cities/b", "cities/c"] { try await engine.put(key, key) }
    func payloads(after position: String? = nil) async throws -> [String?] {
      try await engine.scan(ScanRequest(after: position, includesPayloads: true)).entries.map { entry in
        entry.payload.map { String(decoding: $0, as: UTF8.self) }
      }
    }
    #expect(try await payloads() == ["cities/a", "cities/b", "cities/c"])
    func expectDamage() async throws {
      let error = await #expect(throws: CacheError.self) { try await payloads() }
      #expect(error?.code == .damaged && (error?.cause as? UnreadableEntry)?.key.text == "cities/b")
      #expect(try await payloads(after: "cities/b") == ["cities/c"])
    }
    try server.ask("APPEND", "cachectl:cities/b", "x")
    try await expectDamage()
    try server.ask("DEL", "cachectl:cities/b")
    try server.ask("RPUSH", "cachectl:cities/b", "of another program")
    try await expectDamage()
    server.stop()
    #expect(await code { _ = try await payloads() } == .unreachable)
    try await engine.close()
  }

  @Test(
    "A batch that meets a key of another type changes nothing",
    arguments: ["cachectl:cities/7", "cachectl:tally", "cachectl:index"])
  func foreignKey(_ name: String) async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    try server.ask("SET", name, "of another program")
    var batch = WriteBatch()
    for number in 0..<50 { batch.put(try CacheKey("cities/\(number)"), payload: [1], metadata: .sample()) }
    let made = batch
    #expect(await code { try await engine.apply(made) } == .damaged)
    #expect(try server.cli("--raw", "KEYS", "*") == name)
    try await engine.close()
  }

  @Test(
    "Another program's key in the place of an index is reported",
    arguments: [false, true])
  func foreignIndex(_ isCluster: Bool) async throws {
    let kind: RedisPlugin.Kind = isCluster ? .cluster : .server
    let server = isCluster ? nil : try RedisServer()
    let url = try server?.url ?? RedisCluster.shared.get().url
    let prefix = "foreign-" + String(UInt64.random(in: 0 ... .max), radix: 16)
    let engine = try await RedisPlugin(kind).open(url, ["prefix": .text(prefix)])
    for number in 0..<20 { try await engine.put("cities/\(number)", "1") }
    let store = RedisStore(try options(isCluster ? .cluster : .server, url, ["prefix": .text(prefix)]))
    let part = isCluster ? 7 : 0
    let index = store.layout.tables(of: part)[0]
    _ = try store.router.perform(RedisRequest(part, RedisCommand("SET", index, "of another program")))
    do {
      _ = try await engine.keys()
      Issue.record("it is listed")
    } catch let error as CacheError {
      #expect(error.code == .damaged && error.hint.hasPrefix("if that program needs the key, give another prefix"))
      #expect(error.message.hasSuffix("another program has made a key in the place of the index or the tally"))
    }
    let administration = StoreAdministration(EntryStore(engine: engine, clock: SystemClock()))
    #expect(await code { _ = try await administration.list(EntrySelection(), after: nil, limit: 100) } == .damaged)
    _ = try store.router.perform(RedisRequest(part, RedisCommand("DEL", index)))
    if isCluster { #expect(try await engine.keys().count == 20) }
    try await engine.close()
  }

  @Test("Entries can be read although another program's key is in the place of the tally")
  func foreignTally() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    try await engine.put("cities/a", "1")
    try await engine.close()
    try server.ask("SET", "cachectl:tally", "of another program")
    let reopened = try await plugin.open(server.url)
    #expect(try await reopened.text("cities/a") == "1")
    #expect(try await reopened.keys() == ["cities/a"])
    #expect(await code { try await reopened.put("cities/b", "1") } == .damaged)
    #expect(await code { _ = try await reopened.count() } == .damaged)
    try await reopened.close()
  }

  @Test("A batch is made wholly also where the tally was lost, which is found")
  func lostTally() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    for key in ["cities/a", "cities/b", "cities/c"] { try await engine.put(key, "1") }
    try server.ask("DEL", "cachectl:tally")
    var batch = WriteBatch()
    batch.remove(try CacheKey("cities/a"))
    try await engine.apply(batch)
    try await engine.put("cities/b", "12")
    #expect(try await engine.text("cities/b") == "12")
    #expect(try await engine.keys() == ["cities/b", "cities/c"])
    #expect(try await engine.check().map(\.key) == [nil])
    try await engine.close()
  }

  @Test("A batch that meets a tally that cannot be read changes nothing")
  func unreadableTally() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    for key in ["cities/a", "cities/b"] { try await engine.put(key, "1") }
    try server.ask("HSET", "cachectl:tally", "cities/", "many")
    #expect(await code { try await engine.put("cities/a", "12") } != nil)
    #expect(await code { try await engine.put("cities/c", "12") } != nil)
    #expect(try await engine.text("cities/a") == "1")
    #expect(try await engine.text("cities/c") == nil)
    #expect(try await engine.keys() == ["cities/a", "cities/b"])
    try await engine.close()
  }

  @Test("What is not as it was written is damage, and an entry that was evicted is found")
  func damage() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    for key in ["cities/a", "cities/b", "cities/c", "cities/d"] { try await engine.put(key, "1") }
    try server.ask("APPEND", "cachectl:cities/a", "x")
    // Its content type is a letter shorter, and its payload longer.
    let length = try #require(try server.ask("STRLEN", "cachectl:cities/b").integer)
    try server.ask("SETRANGE", "cachectl:cities/b", "\(length - 2)", "\u{F}")
    try server.ask("DEL", "cachectl:cities/c")
    #expect(await code { _ = try await engine.text("cities/a") } == .damaged)
    let issues = try await engine.check()
    #expect(issues.map { $0.key?.text } == ["cities/a", "cities/b", "cities/c"])
    #expect(issues.map(\.kind) == [.undecodable, .structure, .structure])
    try server.ask("SET", "cachectl:cities/d", "of another program")
    #expect(try await engine.check().last?.key?.text == "cities/d")
    try server.ask("HSET", "cachectl:tally", "cities 1 2", "1 3")
    #expect(try await engine.check().contains { $0.key == nil })
    try await engine.close()
  }
}
