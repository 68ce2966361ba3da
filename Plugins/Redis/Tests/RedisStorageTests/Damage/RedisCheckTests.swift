import StorageSPI
import Testing

@testable import HiredisStorage
@testable import CacheCore

@Suite("A check names what is wrong with a store, and damaged entries can go")
struct RedisCheckTests {
  /// What is done to a store with the entries a to e, what and what a check reports. `nil` stands for entries whose
  /// keys are unknown.
  struct Damage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var commands: [[String]] = []
    var named: [String?]
  }

  /// The length of each entry.
  private static let length: Int = {
    guard let key = try? CacheKey("cities/c"), let entry = try? RedisEntry.encode(key, [1], .sample()) else { return 0 }
    return entry.count
  }()

  static let damages = [
    Damage(testDescription: "nothing", named: []),
    Damage(
      testDescription: "an entry is gone", commands: [["UNLINK", "cachectl:cities/c"]], named: ["cities/c"]),
    Damage(
      testDescription: "it is longer", commands: [["APPEND", "cachectl:cities/c", "x"]],
      named: ["cities/c"]),
    Damage(
      testDescription: "a length is garbled", commands: [["SETRANGE", "cachectl:cities/c", "\(length - 4)", "\u{7F}"]],
      named: ["cities/c"]),
    Damage(
      testDescription: "a list stands in the place of an entry",
      commands: [["DEL", "cachectl:cities/c"], ["RPUSH", "cachectl:cities/c", "text"]],
      named: ["cities/c"]),
    Damage(
      testDescription: "a string stands in the place of an entry", commands: [["SET", "cachectl:cities/c", "text"]],
      named: ["cities/c"]),
    Damage(
      testDescription: "an entry is another size than its line says",
      commands: [["SETRANGE", "cachectl:cities/c", "\(length - 2)", "\u{F}"]], named: ["cities/c"]),
    Damage(
      testDescription: "the index has a line that is none",
      commands: [["ZADD", "cachectl:index", "0", "cities/cc and more"]], named: [nil]),
    Damage(
      testDescription: "the tally counts too much", commands: [["HSET", "cachectl:tally", "cities 1 2", "3 4"]],
      named: [nil, nil]),
    Damage(
      testDescription: "the count of a namespace is too high",
      commands: [["HSET", "cachectl:tally", "cities/", "9 9"]],
      named: [nil, nil]),
    Damage(
      testDescription: "the count of all entries is too high", commands: [["HSET", "cachectl:tally", "*", "6 6"]],
      named: [nil]),
    Damage(
      testDescription: "the count of all entries is too low", commands: [["HSET", "cachectl:tally", "*", "1 1"]],
      named: [nil]),
    Damage(
      testDescription: "the index has a line that is no text", commands: [["ZADD", "cachectl:index", "0", "\u{FF}"]],
      named: [nil]),
    Damage(
      testDescription: "the index is lost", commands: [["DEL", "cachectl:index"]], named: [nil, nil]),
    Damage(
      testDescription: "the index and two entries are lost",
      commands: [["DEL", "cachectl:index", "cachectl:cities/c", "cachectl:cities/d"]], named: [nil, nil]),
    Damage(
      testDescription: "the index and all entries are lost",
      commands: [["DEL", "cachectl:index"] + ["a", "b", "c", "d", "e"].map { "cachectl:cities/\($0)" }], named: [nil]),
    Damage(
      testDescription: "the index and the tally are lost", commands: [["DEL", "cachectl:index", "cachectl:tally"]],
      named: [nil]),
    Damage(
      testDescription: "the index is lost, and the tally cannot be read",
      commands: [["DEL", "cachectl:index"], ["HSET", "cachectl:tally", "*", "many"]], named: [nil, nil]),
    Damage(
      testDescription: "a line is lost", commands: [["ZREMRANGEBYRANK", "cachectl:index", "1", "1"]],
      named: [nil, nil]),
    Damage(
      testDescription: "the version is garbled", commands: [["HSET", "cachectl:tally", "format", "foo"]], named: [nil]),
    Damage(testDescription: "the tally is lost", commands: [["DEL", "cachectl:tally"]], named: [nil]),
    Damage(
      testDescription: "the tally cannot be read", commands: [["HSET", "cachectl:tally", "cities/", "many"]],
      named: [nil]),
    Damage(
      testDescription: "the tally is no table", commands: [["SET", "cachectl:tally", "text"]], named: [nil]),
  ]

  private static let server = Result { try RedisServer() }

  /// A store of its own on the server that the tests share.
  private struct Subject {
    let server: RedisServer
    let prefix: String
    let engine: any StorageEngine

    var configuration: EngineConfiguration {
      get throws {
        let values = patient(server.url, ["prefix": .text(prefix)])
        return try EngineConfiguration(for: RedisPlugin().declaration, values: values, clock: SystemClock())
      }
    }

    /// What the server answers to the command, in which the store is called "cachectl".
    @discardableResult
    func ask(_ words: [String]) throws -> RedisValue {
      var command = RedisCommand()
      command.append(words.map { $0.replacing("cachectl:", with: "\(prefix):") })
      return try server.connection().exchange([command])[0].value
    }
  }

  private func store(_ damage: Damage) async throws -> Subject {
    let (server, prefix) = (try Self.server.get(), "check-" + String(UInt64.random(in: 0 ... .max), radix: 16))
    let engine = try await RedisPlugin().open(server.url, ["prefix": .text(prefix)])
    for key in ["a", "b", "c", "d", "e"] { try await engine.put("cities/\(key)", "1") }
    let subject = Subject(server: server, prefix: prefix, engine: engine)
    for command in damage.commands { #expect(try subject.ask(command).error == nil) }
    return subject
  }

  @Test("A check names it", arguments: damages)
  func named(_ damage: Damage) async throws {
    let subject = try await store(damage)
    #expect(try await subject.engine.check().map { $0.key?.text } == damage.named)
    try await subject.engine.close()
  }

  @Test("Entries missing from both tables are found even after a write has started new ones, and can be removed")
  func begunAgain() async throws {
    let damage = Damage(
      testDescription: "both are lost", commands: [["DEL", "cachectl:index", "cachectl:tally"]], named: [])
    let subject = try await store(damage)
    try await subject.engine.put("cities/c", "new")
    #expect(
      try await subject.engine.check().map(\.message) == ["the index lacks 4 entries that are on the server"])
    try await RedisPlugin().removeStore(subject.configuration)
    #expect(try await subject.engine.text("cities/a") == nil)
    try await subject.engine.close()
  }

  @Test("A store of a later version is not removed, even if its tally cannot be read")
  func laterVersion() async throws {
    let server = try RedisServer()
    let configuration = try EngineConfiguration(
      for: RedisPlugin().declaration, values: patient(server.url), clock: SystemClock())
    try server.ask("HSET", "cachectl:tally", "format", "3", "*", "of a form to come")
    #expect(await code { try await RedisPlugin().removeStore(configuration) } == .unsupportedFormat)
    #expect(try server.ask("HGET", "cachectl:tally", "format").text == "3")
  }

  @Test("Whatever is wrong with one entry, it is named and can go", arguments: damages[1...6])
  func removable(_ damage: Damage) async throws {
    let subject = try await store(damage)
    let engine = subject.engine
    let entries = EntryStore(engine: engine, clock: SystemClock())
    let administration = StoreAdministration(entries)
    let issues = try await engine.check()
    // A listing forgets what is gone.
    _ = try? await engine.keys()
    _ = try await administration.change(.remove, keys: issues.compactMap(\.key), dryRun: false)
    #expect(try await engine.check().map(\.message) == [])
    #expect(try await engine.keys() == ["cities/a", "cities/b", "cities/d", "cities/e"])
    try await administration.removeAll { _ in }
    #expect(try await engine.keys() == [])
    #expect(try await engine.count().entries == 0)
    #expect(try await engine.check().map(\.message) == [])
    #expect(try subject.ask(["EXISTS", "cachectl:cities/c"]).integer == 0)
    try await engine.close()
  }

  @Test("A damaged entry is replaced by the next one under its key", arguments: damages[1...6])
  func replaced(_ damage: Damage) async throws {
    let subject = try await store(damage)
    let engine = subject.engine
    try await engine.put("cities/c", "new")
    #expect(try await engine.text("cities/c") == "new")
    #expect(try await engine.check().map(\.message) == [])
    #expect(try subject.ask(["TYPE", "cachectl:cities/c"]).text == "string")
    try await engine.close()
  }
}
