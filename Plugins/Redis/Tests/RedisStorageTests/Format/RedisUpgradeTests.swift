import StorageSPI
import Testing

@testable import HiredisStorage

@Suite("A store of the first version is upgraded when it is opened")
struct RedisUpgradeTests {
  /// Puts an entry as the first version did, into the part whose keys begin with `base`.
  private func put(_ key: String, _ payload: String, _ base: String, _ ask: ([String]) throws -> Void) throws {
    let fields = [
      "payload", payload, "storedAt", "1767225600000", "freshUntil", "1767229200000", "retainUntil", "4102444800000",
      "contentType", "application/json", "attributes", "{\"etag\":\"1\"}", "checksum", "00000000000000ff",
    ]
    try ask(["HSET", base + key] + fields)
    try ask(["PEXPIREAT", base + key, "4102444800000"])
    try ask(["ZADD", base + "keys", "0", "\(key) 1685361 3912396 \(payload.utf8.count)"])
    try ask(["ZADD", base + "expiry", "4102444800000", key])
    try ask(["HSET", base + "tally", "format", "1", "changes", "9", "cities 1685361 3912396", "1 1"])
    try ask(["HSET", base + "totals", "cities", "1 1"])
  }

  private func ask(_ words: [String], _ server: RedisServer) throws {
    var command = RedisCommand()
    command.append(words)
    #expect(try server.connection().exchange([command])[0].value.error == nil)
  }

  private let metadata = EntryMetadata(
    storedAt: Timestamp(milliseconds: 1_767_225_600_000), freshUntil: Timestamp(milliseconds: 1_767_229_200_000),
    retainUntil: Timestamp(milliseconds: 4_102_444_800_000), contentType: "application/json",
    attributes: ["etag": "1"], checksum: 255)

  private func expectWhole(_ engine: any StorageEngine, _ keys: [String]) async throws {
    for key in keys {
      #expect(try await engine.text(key) == "value of \(key)")
      #expect(try await engine.read(try CacheKey(key)) { _, metadata throws(CacheError) in metadata } == metadata)
    }
    #expect(try await engine.keys() == keys.sorted())
    #expect(try await engine.statistics().entries == keys.count)
    #expect(try await engine.checkIntegrity().map(\.message) == [])
  }

  @Test("On one server, and what is there is left nowhere else")
  func server() async throws {
    let server = try RedisServer()
    let keys = (0..<250).map { "cities/\($0)" }
    for key in keys { try put(key, "value of \(key)", "cachectl:") { try ask($0, server) } }
    // Its entry is gone, as of one that the server has evicted.
    try ask(["ZADD", "cachectl:keys", "0", "cities/gone 1 2 3"], server)
    let configuration = try EngineConfiguration(
      for: RedisPlugin().declaration, values: patient(server.url), clock: SystemClock())
    #expect(try await RedisPlugin().inspect(configuration).format == 1)
    let engine = try await RedisPlugin().open(server.url)
    try await expectWhole(engine, keys)
    let left = try server.cli("--raw", "KEYS", "*").split(separator: "\n").filter { !$0.contains("/") }
    #expect(Set(left) == ["cachectl:index", "cachectl:tally"])
    #expect(try await RedisPlugin().inspect(configuration).format == 2)
    try await engine.close()
  }

  @Test("An upgrade that was interrupted goes on, and keeps what was written since")
  func interrupted() async throws {
    let server = try RedisServer()
    let first = try await RedisPlugin().open(server.url)
    try await first.put("cities/b", "new")
    // A program of the first version has gone on writing.
    try put("cities/c", "value of cities/c", "cachectl:") { try ask($0, server) }
    try ask(["ZADD", "cachectl:keys", "0", "cities/b 1685361 3912396 3"], server)
    #expect(await code { try await first.put("cities/a", "1") } == .unsupportedFormat)
    try ask(["HSET", "cachectl:tally", "format", "2"], server)
    let second = try await RedisPlugin().open(server.url)
    #expect(try await second.text("cities/b") == "new")
    #expect(try await second.text("cities/c") == "value of cities/c")
    #expect(try await second.keys() == ["cities/b", "cities/c"])
    for engine in [first, second] { try await engine.close() }
  }

  @Test("What was removed since the upgrade began does not come back")
  func removedMeanwhile() async throws {
    let server = try RedisServer()
    for key in ["cities/a", "cities/b"] { try put(key, "value of \(key)", "cachectl:") { try ask($0, server) } }
    try ask(["DEL", "cachectl:cities/a"], server)
    let store = RedisStore(try options(.server, server.url))
    var batch = WriteBatch()
    batch.require(try CacheKey("cities/a"), .absent)
    batch.put(try CacheKey("cities/a"), payload: [1], metadata: metadata)
    var application = store.application(try RedisBatch(batch), part: 0, .unbounded)
    application.requiresFormer = true
    try ask(["DEL", "cachectl:tally"], server)
    guard case .conflict? = try store.verdicts([application]).first?.outcome else {
      Issue.record("an entry that is gone is moved")
      return
    }
    let engine = try await RedisPlugin().open(server.url)
    #expect(try await engine.keys() == ["cities/b"])
    try await engine.close()
  }

  @Test("On a cluster")
  func cluster() async throws {
    let cluster = try RedisCluster.shared.get()
    let prefix = "upgrade-" + String(UInt64.random(in: 0 ... .max), radix: 16)
    let store = RedisStore(try options(.cluster, cluster.url, ["prefix": .text(prefix)]))
    let keys = (0..<60).map { "cities/\($0)" }
    for key in keys {
      let part = RedisSlot.number(of: key.utf8) % 32
      let tag = "\(prefix):\(part < 10 ? "0" : "")\(part)"
      try put(key, "value of \(key)", "{\(tag)}:") { words in
        var command = RedisCommand()
        command.append(words)
        _ = try store.router.perform(RedisRequest(RedisSlot.number(of: tag.utf8), command))
      }
    }
    let engine = try await RedisPlugin(.cluster).open(cluster.url, ["prefix": .text(prefix)])
    try await expectWhole(engine, keys)
    #expect(try store.hasFormerEntries() == false)
    try await engine.close()
  }
}
