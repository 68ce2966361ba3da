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
}
