import StorageSPI
import Testing

@testable import RedisStorage

@Suite("A store in which something is wrong is put right")
struct RedisRepairTests {
  /// What is done to a store of the entries a to e, what a check names, which entries are left, and which were lost.
  struct Damage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var commands: [[String]] = []
    var named: [String?]
    var left = ["cities/a", "cities/b", "cities/c", "cities/d", "cities/e"]
    var lost: [String] = []
  }

  static let damages = [
    Damage(testDescription: "nothing", named: []),
    Damage(
      testDescription: "an entry is gone", commands: [["UNLINK", "cachectl:cities/c"]], named: ["cities/c"],
      left: ["cities/a", "cities/b", "cities/d", "cities/e"]),
    Damage(
      testDescription: "a field is garbled", commands: [["HSET", "cachectl:cities/c", "freshUntil", "tomorrow"]],
      named: ["cities/c"], left: ["cities/a", "cities/b", "cities/d", "cities/e"], lost: ["cities/c"]),
    Damage(
      testDescription: "the checksum is garbled", commands: [["HSET", "cachectl:cities/c", "checksum", "none"]],
      named: ["cities/c"], left: ["cities/a", "cities/b", "cities/d", "cities/e"], lost: ["cities/c"]),
    Damage(
      testDescription: "the checksum is missing", commands: [["HDEL", "cachectl:cities/c", "checksum"]],
      named: ["cities/c"], left: ["cities/a", "cities/b", "cities/d", "cities/e"], lost: ["cities/c"]),
    Damage(
      testDescription: "a string stands in the place of an entry", commands: [["SET", "cachectl:cities/c", "text"]],
      named: ["cities/c"], left: ["cities/a", "cities/b", "cities/d", "cities/e"], lost: ["cities/c"]),
    Damage(
      testDescription: "an entry is another size than its line says",
      commands: [["HSET", "cachectl:cities/c", "payload", "12"]], named: ["cities/c"]),
    Damage(
      testDescription: "the index has a line that is none",
      commands: [["ZADD", "cachectl:keys", "0", "cities/cc and more"]], named: [nil]),
    Damage(
      testDescription: "the tally counts too much", commands: [["HSET", "cachectl:tally", "cities 1 2", "3 4"]],
      named: [nil]),
    Damage(
      testDescription: "the totals count too much", commands: [["HSET", "cachectl:totals", "cities", "9 9"]],
      named: [nil]),
    Damage(testDescription: "the totals are lost", commands: [["DEL", "cachectl:totals"]], named: [nil]),
    Damage(
      testDescription: "the totals cannot be read", commands: [["HSET", "cachectl:totals", "cities", "many"]],
      named: [nil]),
    Damage(
      testDescription: "the tally is no table", commands: [["SET", "cachectl:tally", "text"]], named: [nil]),
  ]

  private func store(_ damage: Damage) async throws -> (server: RedisServer, engine: any StorageEngine) {
    let server = try RedisServer()
    let engine = try await RedisPlugin().open(server.url)
    for key in ["a", "b", "c", "d", "e"] { try await engine.put("cities/\(key)", "1") }
    for command in damage.commands {
      var sent = RedisCommand()
      sent.append(command)
      #expect(try server.connection().exchange([sent])[0].value.error == nil)
    }
    return (server, engine)
  }

  @Test("A check names it, and a repair saves the rest", arguments: damages)
  func repaired(_ damage: Damage) async throws {
    let (server, engine) = try await store(damage)
    #expect(try await engine.checkIntegrity().map { $0.key?.text } == damage.named)
    let configuration = try EngineConfiguration(
      for: RedisPlugin().declaration, values: patient(server.url), clock: SystemClock())
    let report = try await RedisPlugin().repair(configuration, RepairPlan(suffix: ".damaged") { _, _, _ in true })
    #expect(report.saved == damage.left.count)
    #expect(report.lost.map { $0.key?.text } == damage.lost)
    #expect(try await engine.checkIntegrity().map(\.message) == [])
    #expect(try await engine.keys() == damage.left)
    #expect(try await engine.statistics().entries == damage.left.count)
    try await engine.put("cities/c", "new")
    #expect(try await engine.text("cities/c") == "new")
    try await engine.close()
  }

  @Test("What the core finds unsound is removed, and named")
  func unsound() async throws {
    let (server, engine) = try await store(Damage(testDescription: "nothing", named: []))
    let configuration = try EngineConfiguration(
      for: RedisPlugin().declaration, values: patient(server.url), clock: SystemClock())
    let plan = RepairPlan(suffix: ".damaged") { key, _, _ in key.text != "cities/b" }
    #expect(try await RedisPlugin().repair(configuration, plan).lost.map { $0.key?.text } == ["cities/b"])
    #expect(try await engine.keys() == ["cities/a", "cities/c", "cities/d", "cities/e"])
    try await engine.close()
  }

  @Test("Whatever is wrong with one entry, the others are listed, and all can be removed", arguments: damages[1...6])
  func removable(_ damage: Damage) async throws {
    let (server, engine) = try await store(damage)
    let isGone = damage.testDescription.contains("gone")
    let listed = try await engine.scan(KeyRange(), limit: 100)
    #expect(listed.map(\.key.text) == (isGone ? damage.left : ["a", "b", "c", "d", "e"].map { "cities/\($0)" }))
    // As the core makes room: each on condition that it still is what was listed.
    var batch = WriteBatch()
    for entry in listed {
      batch.require(entry.key, .checksum(entry.metadata.checksum))
      batch.remove(entry.key)
    }
    try await engine.apply(batch)
    #expect(try await engine.keys() == [])
    #expect(try await engine.statistics().entries == 0)
    #expect(try await engine.checkIntegrity().map(\.message) == [])
    #expect(try server.ask("EXISTS", "cachectl:cities/c").integer == 0)
    try await engine.close()
  }

  @Test("A damaged entry is replaced by the next one under its key", arguments: damages[1...6])
  func replaced(_ damage: Damage) async throws {
    let (server, engine) = try await store(damage)
    try await engine.put("cities/c", "new")
    #expect(try await engine.text("cities/c") == "new")
    #expect(try await engine.checkIntegrity().map(\.message) == [])
    #expect(try server.ask("TYPE", "cachectl:cities/c").text == "hash")
    try await engine.close()
  }
}
