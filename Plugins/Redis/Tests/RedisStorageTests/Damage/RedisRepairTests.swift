import StorageSPI
import Testing

@testable import HiredisStorage
@testable import ResponseStorage

@Suite("A store in which something is wrong is put right")
struct RedisRepairTests {
  /// What is done to a store with the entries a to e, what a check reports, which entries are left, and which were lost;
  /// `nil` stands for entries whose keys are unknown.
  struct Damage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var commands: [[String]] = []
    var named: [String?]
    var left = ["cities/a", "cities/b", "cities/c", "cities/d", "cities/e"]
    var lost: [String?] = []
    /// How many more entries may have been lost; `nil` if the number is unknown.
    var missing: Int? = 0
    /// The number of issues that were mended without losing an entry.
    var mended = 0
  }

  /// The length of each entry.
  private static let length: Int = {
    guard let key = try? CacheKey("cities/c"), let entry = try? RedisEntry.encode(key, [1], .sample()) else { return 0 }
    return entry.count
  }()

  static let damages = [
    Damage(testDescription: "nothing", named: []),
    Damage(
      testDescription: "an entry is gone", commands: [["UNLINK", "cachectl:cities/c"]], named: ["cities/c"],
      left: ["cities/a", "cities/b", "cities/d", "cities/e"], lost: ["cities/c"]),
    Damage(
      testDescription: "it is longer", commands: [["APPEND", "cachectl:cities/c", "x"]],
      named: ["cities/c"], left: ["cities/a", "cities/b", "cities/d", "cities/e"], lost: ["cities/c"]),
    Damage(
      testDescription: "a length is garbled", commands: [["SETRANGE", "cachectl:cities/c", "\(length - 4)", "\u{7F}"]],
      named: ["cities/c"], left: ["cities/a", "cities/b", "cities/d", "cities/e"], lost: ["cities/c"]),
    Damage(
      testDescription: "a list stands in the place of an entry",
      commands: [["DEL", "cachectl:cities/c"], ["RPUSH", "cachectl:cities/c", "text"]],
      named: ["cities/c"], left: ["cities/a", "cities/b", "cities/d", "cities/e"], lost: ["cities/c"]),
    Damage(
      testDescription: "a string stands in the place of an entry", commands: [["SET", "cachectl:cities/c", "text"]],
      named: ["cities/c"], left: ["cities/a", "cities/b", "cities/d", "cities/e"], lost: ["cities/c"]),
    Damage(
      testDescription: "an entry is another size than its line says",
      commands: [["SETRANGE", "cachectl:cities/c", "\(length - 2)", "\u{F}"]], named: ["cities/c"], mended: 1),
    Damage(
      testDescription: "the index has a line that is none",
      commands: [["ZADD", "cachectl:index", "0", "cities/cc and more"]], named: [nil], mended: 1),
    Damage(
      testDescription: "the tally counts too much", commands: [["HSET", "cachectl:tally", "cities 1 2", "3 4"]],
      named: [nil, nil], mended: 2),
    Damage(
      testDescription: "the count of a namespace is too high",
      commands: [["HSET", "cachectl:tally", "cities/", "9 9"]],
      named: [nil, nil], mended: 2),
    Damage(
      testDescription: "the count of all entries is too high", commands: [["HSET", "cachectl:tally", "*", "6 6"]],
      named: [nil], lost: [nil], missing: 1, mended: 1),
    Damage(
      testDescription: "the count of all entries is too low", commands: [["HSET", "cachectl:tally", "*", "1 1"]],
      named: [nil], mended: 1),
    Damage(
      testDescription: "the index has a line that is no text", commands: [["ZADD", "cachectl:index", "0", "\u{FF}"]],
      named: [nil], mended: 1),
    Damage(
      testDescription: "the index is lost", commands: [["DEL", "cachectl:index"]], named: [nil, nil], mended: 2),
    Damage(
      testDescription: "the index and two entries are lost",
      commands: [["DEL", "cachectl:index", "cachectl:cities/c", "cachectl:cities/d"]], named: [nil, nil],
      left: ["cities/a", "cities/b", "cities/e"], lost: [nil], missing: 2, mended: 2),
    Damage(
      testDescription: "the index and all entries are lost",
      commands: [["DEL", "cachectl:index"] + ["a", "b", "c", "d", "e"].map { "cachectl:cities/\($0)" }], named: [nil],
      left: [], lost: [nil], missing: 5, mended: 1),
    Damage(
      testDescription: "the index and the tally are lost", commands: [["DEL", "cachectl:index", "cachectl:tally"]],
      named: [nil], lost: [nil], missing: nil, mended: 1),
    Damage(
      testDescription: "the index is lost, and the tally cannot be read",
      commands: [["DEL", "cachectl:index"], ["HSET", "cachectl:tally", "*", "many"]], named: [nil, nil], lost: [nil],
      missing: nil,
      mended: 2),
    Damage(
      testDescription: "a line is lost", commands: [["ZREMRANGEBYRANK", "cachectl:index", "1", "1"]],
      named: [nil, nil], mended: 2),
    Damage(
      testDescription: "the version is garbled", commands: [["HSET", "cachectl:tally", "format", "foo"]], named: [nil],
      mended: 1),
    Damage(testDescription: "the tally is lost", commands: [["DEL", "cachectl:tally"]], named: [nil], mended: 1),
    Damage(
      testDescription: "the tally cannot be read", commands: [["HSET", "cachectl:tally", "cities/", "many"]],
      named: [nil], mended: 1),
    Damage(
      testDescription: "the tally is no table", commands: [["SET", "cachectl:tally", "text"]], named: [nil], mended: 1),
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
    let (server, prefix) = (try Self.server.get(), "repair-" + String(UInt64.random(in: 0 ... .max), radix: 16))
    let engine = try await RedisPlugin().open(server.url, ["prefix": .text(prefix)])
    for key in ["a", "b", "c", "d", "e"] { try await engine.put("cities/\(key)", "1") }
    let subject = Subject(server: server, prefix: prefix, engine: engine)
    for command in damage.commands { #expect(try subject.ask(command).error == nil) }
    return subject
  }

  @Test("A check names it, and a repair saves the rest", arguments: damages)
  func repaired(_ damage: Damage) async throws {
    let subject = try await store(damage)
    let engine = subject.engine
    #expect(try await engine.checkIntegrity().map { $0.key?.text } == damage.named)
    let report = try await RedisPlugin().repair(
      subject.configuration, RepairPlan(suffix: ".damaged") { _, _, _ in true })
    #expect(report.saved == damage.left.count)
    #expect(report.lost.map { $0.key?.text } == damage.lost)
    if let loss = report.lost.last, loss.key == nil {
      let text =
        damage.missing.map { "the tally counted \($0) more entr" }
        ?? "the index has lost lines, and the tally cannot tell"
      #expect(loss.message.hasPrefix(text))
    }
    #expect(report.mended.count == damage.mended)
    #expect(try await engine.checkIntegrity().map(\.message) == [])
    #expect(try await engine.keys() == damage.left)
    #expect(try await engine.statistics().entries == damage.left.count)
    try await engine.put("cities/c", "new")
    #expect(try await engine.text("cities/c") == "new")
    try await engine.close()
  }

  @Test(
    "A key of another type in the place of an index goes, on a cluster too, and no entry is lost",
    arguments: [true, false])
  func foreignIndex(_ isCluster: Bool) async throws {
    let plugin = RedisPlugin(isCluster ? .cluster : .server)
    let url = isCluster ? try RedisCluster.shared.get().url : try Self.server.get().url
    let prefix = "index-" + String(UInt64.random(in: 0 ... .max), radix: 16)
    let engine = try await plugin.open(url, ["prefix": .text(prefix)])
    for number in 0..<20 { try await engine.put("cities/\(number)", "1") }
    let store = RedisStore(try options(isCluster ? .cluster : .server, url, ["prefix": .text(prefix)]))
    let part = store.layout.part(of: try CacheKey("cities/7"))
    for table in store.layout.tables(of: part) {
      for command in [RedisCommand("DEL", table), RedisCommand("SET", table, "text")] {
        _ = try store.router.perform(RedisRequest(part, command))
      }
    }
    #expect(await code { _ = try await engine.keys() } == .damaged)
    let values = patient(url, ["prefix": .text(prefix)])
    let configuration = try EngineConfiguration(for: plugin.declaration, values: values, clock: SystemClock())
    let report = try await plugin.repair(configuration, RepairPlan(suffix: ".damaged") { _, _, _ in true })
    // Without the tally, it is not certain that no entry was lost.
    #expect(report.saved == 20 && report.lost.map(\.key) == [nil] && report.mended.count == 3)
    #expect(try await engine.keys().count == 20)
    #expect(try await engine.checkIntegrity().map(\.message) == [])
    try await engine.close()
  }

  @Test("Entries missing from both tables are found even after a write has started new ones, and can be removed")
  func begunAnew() async throws {
    let damage = Damage(
      testDescription: "both are lost", commands: [["DEL", "cachectl:index", "cachectl:tally"]], named: [])
    let subject = try await store(damage)
    try await subject.engine.put("cities/c", "new")
    #expect(
      try await subject.engine.checkIntegrity().map(\.message) == ["the index lacks 4 entries that are on the server"])
    let plan = RepairPlan(suffix: ".damaged") { _, _, _ in true }
    let report = try await RedisPlugin().repair(subject.configuration, plan)
    #expect(report.saved == 5 && report.lost.map(\.key) == [nil] && report.mended.count == 1)
    try subject.ask(["DEL", "cachectl:index", "cachectl:tally"])
    let administration = StoreAdministration(
      store: EntryStore(engine: subject.engine, clock: SystemClock()), ledger: MemoryOperationLedger())
    // The caller then removes the store as a whole.
    #expect(await code { try await administration.removeAll { _ in } } == .damaged)
    try await RedisPlugin().removeStore(subject.configuration)
    #expect(try await subject.engine.text("cities/a") == nil)
    try await subject.engine.close()
  }

  @Test("An entry that only the check before a repair has seen is known to be gone")
  func forgotten() async throws {
    let damages = [["DEL", "cachectl:cities/c"], ["APPEND", "cachectl:cities/d", "x"]]
    let subject = try await store(Damage(testDescription: "two entries", commands: damages, named: []))
    let administration = StoreAdministration(
      store: EntryStore(engine: subject.engine, clock: SystemClock()), ledger: MemoryOperationLedger())
    let issues = try await administration.verify().issues.filter { $0.kind != .checksumMismatch }
    #expect(issues.map { $0.key?.text } == ["cities/c", "cities/d"])
    let again = try await administration.verify().issues.filter { $0.kind != .checksumMismatch }
    #expect(again.map { $0.key?.text } == ["cities/d"])
    #expect(try await administration.aboutAbsentEntries(issues).map { $0.key?.text } == ["cities/c"])
    try await subject.engine.close()
  }

  @Test("An entry that had expired is not reported as lost with the index")
  func ended() async throws {
    let subject = try await store(Damage(testDescription: "nothing", named: []))
    // In the current slot of time.
    var soon = SystemClock().now
    repeat {
      soon = SystemClock().now.advanced(by: .seconds(1))
    } while soon.milliseconds >> EntryTally.slotBits != SystemClock().now.milliseconds >> EntryTally.slotBits
    try await subject.engine.put("cities/f", "1", .sample(retainUntil: soon))
    // The server drops it, and the tally counts it until the slot is over.
    try subject.ask(["DEL", "cachectl:cities/f", "cachectl:index"])
    let report = try await RedisPlugin().repair(
      subject.configuration, RepairPlan(suffix: ".damaged") { _, _, _ in true })
    #expect(report.saved == 5 && report.lost.isEmpty)
    try await subject.engine.close()
  }

  /// - Parameter listed: how many entries had their lines back when the repair failed.
  @Test("After a failed repair, the next one still reports the loss", arguments: [0, 2, 4], [false, true])
  func interrupted(listed: Int, withoutTally: Bool) async throws {
    let subject = try await store(Damage(testDescription: "nothing", named: []))
    let lines = try subject.ask(["ZRANGE", "cachectl:index", "0", "-1"]).elements?.compactMap(\.text) ?? []
    try subject.ask(["DEL", "cachectl:index", "cachectl:cities/e"] + (withoutTally ? ["cachectl:tally"] : []))
    let store = RedisStore(try options(.server, subject.server.url, ["prefix": .text(subject.prefix)]))
    for line in lines.prefix(listed) {
      let arguments = [line.prefix { $0 != " " }, line[...]].map { Array($0.utf8) } + [[0, 0, 0, 0, 0, 0, 0, 1]]
      let request = RedisRequest(0, .relist, keys: store.layout.tables(of: 0), arguments: arguments, isChange: true)
      #expect(try store.router.perform(request).integer == 1)
      #expect(try store.router.perform(request).integer == 0)
    }
    let report = try await RedisPlugin().repair(
      subject.configuration, RepairPlan(suffix: ".damaged") { _, _, _ in true })
    #expect(report.saved == 4)
    if !withoutTally {
      #expect(report.lost.map(\.message).first?.hasPrefix("the tally counted 1 more entry") == true)
    } else if listed < 4 {
      #expect(report.lost.map(\.message).first?.hasPrefix("the index has lost lines") == true)
    } else {
      // The first repair has reported it in its error.
      #expect(report.lost.isEmpty && !report.mended.isEmpty)
    }
    #expect(try await subject.engine.checkIntegrity().map(\.message) == [])
    #expect(try await subject.engine.statistics().entries == 4)
    try await subject.engine.close()
  }

  @Test("A repair that runs out of memory leaves the counts as they were")
  func withoutRoom() async throws {
    let server = try RedisServer()
    let engine = try await RedisPlugin().open(server.url)
    for key in ["a", "b", "c", "d", "e"] { try await engine.put("cities/\(key)", "1") }
    try server.ask("DEL", "cachectl:index", "cachectl:cities/c")
    try server.ask("CONFIG", "SET", "maxmemory", "1")
    let configuration = try EngineConfiguration(
      for: RedisPlugin().declaration, values: patient(server.url), clock: SystemClock())
    let plan = RepairPlan(suffix: ".damaged") { _, _, _ in true }
    let error = await #expect(throws: CacheError.self) { _ = try await RedisPlugin().repair(configuration, plan) }
    #expect(error?.code == .noSpace && error?.message.contains("script") == false, "\(String(describing: error))")
    try server.ask("CONFIG", "SET", "maxmemory", "0")
    #expect(await code { _ = try await engine.keys() } == .damaged)
    let report = try await RedisPlugin().repair(configuration, plan)
    #expect(report.saved == 4 && report.lost.map(\.message).first?.hasPrefix("the tally counted 1 more entry") == true)
    #expect(try await engine.checkIntegrity().map(\.message) == [])
    try await engine.close()
  }

  @Test("A repair leaves keys of another program and stores of a later version alone")
  func ofOthers() async throws {
    let server = try RedisServer()
    let configuration = try EngineConfiguration(
      for: RedisPlugin().declaration, values: patient(server.url), clock: SystemClock())
    let plan = RepairPlan(suffix: ".damaged") { _, _, _ in true }
    try server.ask("SET", "cachectl:index", "of another program")
    #expect(await code { _ = try await RedisPlugin().repair(configuration, plan) } == .damaged)
    #expect(try server.ask("GET", "cachectl:index").text == "of another program")
    try server.ask("FLUSHALL")
    try server.ask("SET", "cachectl:tally", "of another program")
    #expect(await code { _ = try await RedisPlugin().repair(configuration, plan) } == .damaged)
    #expect(try server.ask("GET", "cachectl:tally").text == "of another program")
    try server.ask("FLUSHALL")
    try server.ask("HSET", "cachectl:tally", "format", "3", "*", "of a form to come")
    #expect(await code { _ = try await RedisPlugin().repair(configuration, plan) } == .unsupportedFormat)
    #expect(await code { try await RedisPlugin().removeStore(configuration) } == .unsupportedFormat)
    #expect(try server.ask("HGET", "cachectl:tally", "format").text == "3")
  }

  @Test("What the core finds unsound is removed, and named")
  func unsound() async throws {
    let subject = try await store(Damage(testDescription: "nothing", named: []))
    let engine = subject.engine
    let plan = RepairPlan(suffix: ".damaged") { key, _, _ in key.text != "cities/b" }
    #expect(try await RedisPlugin().repair(subject.configuration, plan).lost.map { $0.key?.text } == ["cities/b"])
    #expect(try await engine.keys() == ["cities/a", "cities/c", "cities/d", "cities/e"])
    try await engine.close()
  }

  @Test(
    "Whatever is wrong with one entry, it is named, the others are listed, and it can go", arguments: damages[1...6])
  func removable(_ damage: Damage) async throws {
    let subject = try await store(damage)
    let engine = subject.engine
    let entries = EntryStore(engine: engine, clock: SystemClock())
    let administration = StoreAdministration(store: entries, ledger: MemoryOperationLedger())
    let listing = try await administration.list(EntrySelection(), after: nil, limit: 100)
    #expect(listing.entries.map(\.key.text) == damage.left)
    // What is gone is not listed.
    let listed = damage.commands[0][0] == "UNLINK" ? [] : damage.lost.compactMap(\.self)
    #expect(listing.damage.entries.first.map(\.text) == listed && listing.damage.placeCount == 0)
    let report = try await administration.remove(EntrySelection(), dryRun: false)
    #expect(report.entries == damage.left.count && report.damage == listing.damage)
    _ = try await administration.remove(keys: listing.damage.entries.first, dryRun: false)
    #expect(try await engine.keys() == [])
    #expect(try await engine.statistics().entries == 0)
    #expect(try await engine.checkIntegrity().map(\.message) == [])
    #expect(try subject.ask(["EXISTS", "cachectl:cities/c"]).integer == 0)
    try await engine.close()
  }

  @Test("A damaged entry keeps no write from making room, nor from taking its place", arguments: damages[2...5])
  func makingRoom(_ damage: Damage) async throws {
    let subject = try await store(damage)
    let engine = subject.engine
    let limits = StoreLimits(maxEntries: 5, maxBytes: 5, eviction: .leastRecentlyStored)
    let entries = EntryStore(engine: engine, clock: SystemClock(), limits: limits)
    try await entries.write(try CacheKey("cities/f"), payload: [1], metadata: .sample())
    #expect(try subject.ask(["ZCARD", "cachectl:index"]).integer == 5)
    try await entries.write(try CacheKey("cities/c"), payload: [1, 2], metadata: .sample())
    #expect(try await engine.keys() == ["cities/c", "cities/d", "cities/e", "cities/f"])
    try await engine.close()
  }

  @Test("A damaged entry is replaced by the next one under its key", arguments: damages[1...6])
  func replaced(_ damage: Damage) async throws {
    let subject = try await store(damage)
    let engine = subject.engine
    try await engine.put("cities/c", "new")
    #expect(try await engine.text("cities/c") == "new")
    #expect(try await engine.checkIntegrity().map(\.message) == [])
    #expect(try subject.ask(["TYPE", "cachectl:cities/c"]).text == "string")
    try await engine.close()
  }
}
