import Foundation
import Testing

/// Stores that the engine refuses to open, or whose last commits opening would drop: the commands that only read give what
/// a repair would save, and end with the status of damage.
@Suite struct SalvageTests {
  enum Damage: String, CaseIterable {
    case header
    case twentyKiB

    var bytes: Int { self == .header ? 100 : 20_480 }
  }

  private static let engines = ["sqlite", "lmdb"]

  /// A store with every page of cities and a search, damaged from its beginning.
  private func damagedStore(_ engine: String, _ damage: Damage) async throws -> (scratch: Scratch, file: String) {
    let scratch = try Scratch()
    for command in [["cities", "--all", "--quiet", "--output", "json"], ["movies", "--query", "heat"]] {
      expectSuccess(try await scratch.cachectl(["--backend", engine, "fetch"] + command))
    }
    let file = engine == "sqlite" ? "home/cache.sqlite" : "home/lmdb/data.mdb"
    var data = try scratch.read(file)
    // LMDB has two headers, a page each.
    for start in engine == "lmdb" && damage == .header ? [0, 4_096] : [0] {
      data.replaceSubrange(start..<start + damage.bytes, with: Data(repeating: 0x58, count: damage.bytes))
    }
    try scratch.write(data, to: file)
    return (scratch, file)
  }

  @Test(arguments: engines, Damage.allCases)
  func whatARepairWouldSaveIsRead(engine: String, damage: Damage) async throws {
    let (scratch, file) = try await damagedStore(engine, damage)
    let run = { (arguments: [String]) in try await scratch.cachectl(["--backend", engine] + arguments) }
    // The first, because it counts how the entry is used.
    expectDamage(try await run(["queries"]))
    let (data, names) = (try scratch.read(file), scratch.names(below: "home"))
    let preview = try await run(["verify", "--repair", "--dry-run", "--output", "json"]).document()["repair"]
    let saved = try #require(preview?["saved"]?.number)
    #expect(saved > 200)
    let exported = try await run(["export"])
    expectDamage(exported)
    #expect(exported.errors.hasPrefix("cachectl: warning: "), "\(exported.errors)")
    #expect(exported.errors.contains("cachectl --backend \(engine) verify --repair"), "\(exported.errors)")
    #expect(Double(exported.lines.count) == saved)
    let listing = try await run(["ls", "--output", "ndjson"])
    expectDamage(listing)
    #expect(Double(listing.lines.count) == saved)
    let statistics = try await run(["stats", "--output", "json"])
    expectDamage(statistics)
    #expect(try statistics.document()["entries"]?.number == saved)
    let first = try JSON(Data(exported.lines[0].utf8))
    let shown = try await run(["show", "--raw", first["key"]?.text ?? ""])
    expectDamage(shown)
    #expect(first["payload"]?.text == shown.text)
    let mayHaveLost = ["lost", "mayHaveLost"].contains { preview?[$0]?.elements.isEmpty == false }
    #expect(try await run(["show", "cities/v1/none"]).status == (mayHaveLost ? 65 : 66))
    let migration = try await scratch.cachectl("--output", "json", "migrate", "--from", engine, "--to", "plist")
    expectDamage(migration)
    let document = try migration.document()
    #expect(document["copied"]?.number == saved && document["verified"]?.number == saved)
    #expect(try scratch.read(file) == data, "reading changes nothing")
    #expect(scratch.names(below: "home").filter { !$0.hasPrefix("plist") } == names)
    _ = try await run(["verify", "--repair"])
    let repaired = try await run(["export"])
    expectSuccess(repaired)
    #expect(repaired.text == exported.text, "what was read is what the repair has saved")
  }

  /// Damage that an engine meets only when it reads.
  enum HiddenDamage: String, CaseIterable {
    case plistByte
    case sqlitePages
    case lmdbPage

    var engine: String { self == .plistByte ? "plist" : self == .sqlitePages ? "sqlite" : "lmdb" }
    var file: String {
      switch self {
      case .plistByte: "home/plist/cities.json"
      case .sqlitePages: "home/cache.sqlite"
      case .lmdbPage: "home/lmdb/data.mdb"
      }
    }

    /// - Parameter payload: the payload of the first entry of the cities.
    func apply(to data: inout Data, payload: Data) throws {
      switch self {
      case .plistByte: data[try #require(data.range(of: Data("name".utf8))).lowerBound + 1] = 0xFF
      case .sqlitePages: data.replaceSubrange(65_536..<86_016, with: Data(repeating: 0x58, count: 20_480))
      case .lmdbPage:
        let page = try #require(data.range(of: payload.prefix(100))).lowerBound / 4_096 * 4_096
        data.replaceSubrange(page..<page + 4_096, with: Data(repeating: 0, count: 4_096))
      }
    }
  }

  @Test(arguments: HiddenDamage.allCases)
  func aStoreThatOpensGivesWhatARepairWouldSaveToo(damage: HiddenDamage) async throws {
    let scratch = try Scratch()
    // LMDB's engine checks all pages of a small namespace when it opens the store.
    for order in ["name", "revenue"] {
      expectSuccess(
        try await scratch.cachectl(
          "--backend", damage.engine, "fetch", "cities", "--all", "--order", order, "--quiet", "--output", "json"))
    }
    expectSuccess(try await scratch.cachectl("--backend", damage.engine, "fetch", "movies", "--query", "heat"))
    let first = try await scratch.cachectl("--backend", damage.engine, "ls", "--limit", "1", "--output", "json")
    let key = try first.document()["entries"]?.elements.first?["key"]?.text ?? ""
    let payload = try await scratch.cachectl("--backend", damage.engine, "show", "--raw", key).output
    var data = try scratch.read(damage.file)
    try damage.apply(to: &data, payload: payload)
    try scratch.write(data, to: damage.file)
    let run = { (arguments: [String]) in try await scratch.cachectl(["--backend", damage.engine] + arguments) }
    let preview = try await run(["verify", "--repair", "--dry-run", "--output", "json"]).document()["repair"]
    let saved = try #require(preview?["saved"]?.number)
    #expect(saved > 50)
    let exported = try await run(["export"])
    expectDamage(exported)
    #expect(exported.errorLines.count { $0.hasPrefix("cachectl: ") } == 1, "\(exported.errors)")
    #expect(Double(exported.lines.count) == saved)
    let keys = try exported.lines.map { try JSON(Data($0.utf8))["key"]?.text ?? "" }
    let listing = try await run(["ls", "--output", "ndjson"])
    expectDamage(listing)
    #expect(try listing.lines.map { try JSON(Data($0.utf8))["key"]?.text ?? "" } == keys)
    for limit in [1, 30] {
      let first = try await run(["ls", "--output", "json", "--limit", "\(limit)"])
      let rest = try await run(["ls", "--output", "json", "--cursor", try first.document()["cursor"]?.text ?? ""])
      let both = try [first, rest].flatMap {
        try $0.document()["entries"]?.elements.compactMap { $0["key"]?.text } ?? []
      }
      #expect(both == keys)
    }
    let statistics = try await run(["stats", "--output", "json"])
    #expect(try statistics.document()["entries"]?.number ?? 0 >= saved)
    let migration = try await scratch.cachectl("--output", "json", "migrate", "--from", damage.engine, "--to", "memory")
    expectDamage(migration)
    #expect(try migration.document()["copied"]?.number == saved)
    let shown = try await run(["show", "--raw", keys[0]])
    #expect(try [0, 65].contains(shown.status) && shown.text == JSON(Data(exported.lines[0].utf8))["payload"]?.text)
    #expect(try scratch.read(damage.file) == data, "reading changes nothing")
    _ = try await run(["verify", "--repair"])
    #expect(try await run(["export"]).text == exported.text, "what was read is what the repair has saved")
  }

  /// SQLite ends a log at the first damaged frame without a word, and removes the rest when it closes the store.
  @Test(arguments: ["ls", "export", "stats", "doctor", "verify"])
  func aDamagedLogIsReportedBeforeSQLiteDropsIt(command: String) async throws {
    let (scratch, log) = try await storeWithDamagedLog()
    let files = try ["home/cache.sqlite", "home/cache.sqlite-wal"].map { try scratch.read($0) }
    let run = try await scratch.cachectl("--backend", "sqlite", command)
    #expect(run.status == 65 && (run.text + run.errors).contains("cache.sqlite-wal is damaged"), "\(run.errors)")
    if command != "doctor" { #expect(run.errors.contains("verify --repair"), "\(run.errors)") }
    let after = try ["home/cache.sqlite", "home/cache.sqlite-wal"].map { try scratch.read($0) }
    #expect(after == files, "\(command) changes nothing")
    let repair = try await scratch.cachectl("--backend", "sqlite", "verify", "--repair", "--output", "json")
    #expect(repair.status == 65, "commits may be lost: \(repair.errors)")
    let document = try repair.document()
    #expect(document["issues"] == .list([]))
    #expect(document["repair"]?["mayHaveLost"]?.elements.count == 1, "\(repair.text)")
    let moved = document["repair"]?["movedTo"]?.elements.compactMap(\.text) ?? []
    #expect(moved.contains { FileManager.default.contents(atPath: $0) == log }, "\(moved)")
    expectSuccess(try await scratch.cachectl("--backend", "sqlite", "verify"))
  }

  /// A store as a process leaves it that is killed, with a wrong byte in the first frame of its log.
  private func storeWithDamagedLog() async throws -> (scratch: Scratch, log: Data) {
    let scratch = try Scratch()
    for command in [["cities"], ["movies", "--query", "heat"]] {
      expectSuccess(try await scratch.cachectl(["--backend", "sqlite", "fetch"] + command))
    }
    let (store, kept) = (scratch.path("home/cache.sqlite"), scratch.path("kept"))
    let shell = try await scratch.run(
      "/usr/bin/env",
      [
        "sqlite3", store, "UPDATE entries SET stored_at = stored_at", "UPDATE entries SET stored_at = stored_at",
        ".shell cp '\(store)-wal' '\(kept)'",
      ])
    #expect(shell.status == 0, "\(shell.errors)")
    var log = try scratch.read("kept")
    log[log.startIndex + 200] ^= 1
    try? FileManager.default.removeItem(atPath: store + "-shm")
    try scratch.write(log, to: "home/cache.sqlite-wal")
    return (scratch, log)
  }

  @Test(arguments: engines, Damage.allCases)
  func itCanBeEmptiedButNotCompacted(engine: String, damage: Damage) async throws {
    let (scratch, file) = try await damagedStore(engine, damage)
    let run = { (arguments: [String]) in try await scratch.cachectl(["--backend", engine] + arguments) }
    let data = try scratch.read(file)
    expectDamage(try await run(["compact"]))
    #expect(try scratch.read(file) == data)
    expectSuccess(try await run(["rm", "--all", "--yes"]))
    expectSuccess(try await run(["verify"]))
    #expect(try await run(["ls", "--output", "ndjson"]).lines.isEmpty)
    expectSuccess(try await run(["fetch", "movies", "--query", "heat"]))
  }
}
