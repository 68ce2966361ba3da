import Foundation
import Testing

/// Stores with random damage: nothing wrong is ever returned, every command ends as the contract says, and a repair, the
/// next opening and a removal leave an intact store.
///
/// `CACHECTL_DAMAGES` is the number of damages of each engine (150 for the record), `CACHECTL_DAMAGE_SEED` the first seed,
/// `CACHECTL_DAMAGE_ENTRIES` how many entries a store has. The test prints how much a repair saved of each kind of damage.
@Suite struct RepairTests {
  private static func number(_ name: String, _ standard: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap(Int.init) ?? standard
  }

  private static let count = number("CACHECTL_DAMAGES", 14)
  private static let firstSeed = number("CACHECTL_DAMAGE_SEED", Int.random(in: 0..<1_000_000))
  private static let entries = number("CACHECTL_DAMAGE_ENTRIES", 200)

  private static func key(_ number: Int) -> String {
    "\(["cities", "movies", "notes"][number % 3])/v1/\(1_000 + number)"
  }

  /// From 1 to 15 KB. So some entries have separate pages.
  private static func payload(_ number: Int) -> String {
    String(repeating: "entry \(number) ", count: 100 + number * 37 % 1_200)
  }

  private static let payloads = Dictionary(uniqueKeysWithValues: (0..<entries).map { (key($0), payload($0)) })

  /// An intact store of each engine, which tests copy.
  private static let filled = Dictionary(
    uniqueKeysWithValues: Contract.persistentEngines.map { engine in (engine, Task { try await filledStore(engine) }) })

  private static func filledStore(_ engine: String) async throws -> Scratch {
    let scratch = try Scratch()
    let lines = (0..<entries).map { number in
      #"{"format":1,"key":"\#(key(number))","storedAt":"2026-01-01T00:00:00.000Z","#
        + #""freshUntil":"2099-01-01T00:00:00.000Z","retainUntil":"2099-01-01T00:00:00.000Z","#
        + #""contentType":"text/plain","attributes":{},"payload":"\#(payload(number))"}"#
    }
    // In several batches, as a store grows.
    for start in stride(from: 0, to: entries, by: 50) {
      try scratch.write(lines[start..<min(start + 50, entries)].joined(separator: "\n"), to: "lines.ndjson")
      expectSuccess(try await scratch.cachectl("--backend", engine, "import", scratch.path("lines.ndjson")))
    }
    return scratch
  }

  enum Kind: Int, CaseIterable {
    case bits, bytes, page, pages, cut, foreign, header
  }

  /// The generator of Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (2014).
  private struct Random: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var number = state
      number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
      number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
      return number ^ (number >> 31)
    }
  }

  /// Damages one file of the store in place, as a medium that fails does.
  private static func damage(_ scratch: Scratch, _ engine: String, seed: Int) throws {
    var random = Random(state: UInt64(seed))
    let name =
      switch engine {
      case "sqlite": "home/cache.sqlite"
      case "lmdb": "home/lmdb/data.mdb"
      default: "home/plist/\(["cities", "movies", "notes"][Int.random(in: 0..<3, using: &random)]).json"
      }
    var data = try scratch.read(name)
    func zero(_ pages: Int) {
      let first = Int.random(in: 0..<data.count / 4_096, using: &random) * 4_096
      for index in first..<min(first + pages * 4_096, data.count) { data[index] = 0 }
    }
    switch Kind.allCases[seed % Kind.allCases.count] {
    case .bits:
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        data[Int.random(in: 0..<data.count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
      }
    case .bytes:
      let start = Int.random(in: 0..<data.count - 64, using: &random)
      for index in start..<start + 64 { data[index] = UInt8.random(in: 0...255, using: &random) }
    case .page: zero(1)
    case .pages: zero(8)
    case .cut: data = data.prefix(Int.random(in: 1..<data.count, using: &random))
    case .foreign: data = Data("this is no store, it is a file of somebody else\n".utf8)
    case .header: for index in 0..<100 { data[index] = 0x58 }
    }
    let file = try #require(FileHandle(forUpdatingAtPath: scratch.path(name)))
    try file.write(contentsOf: data)
    try file.truncate(atOffset: UInt64(data.count))
    try file.close()
  }

  @Test(.timeLimit(.minutes(60)), arguments: Contract.persistentEngines, Kind.allCases)
  func anyDamageEndsAsTheContractSays(engine: String, kind: Kind) async throws {
    let filled = try #require(try await Self.filled[engine]?.value)
    let seeds = (Self.firstSeed..<Self.firstSeed + Self.count).filter { $0 % Kind.allCases.count == kind.rawValue }
    var all = 0
    for seed in seeds {
      let note = "\(engine), seed \(seed)"
      all += try await saved(filled, engine, seed, note)
      try await expectContract(filled, engine, seed, note)
    }
    let share = Double(all) / Double(max(1, seeds.count * Self.entries)) * 100
    print("| \(engine), \(kind) | \(seeds.count) | \(String(format: "%.1f", share)) % of \(Self.entries) entries |")
  }

  private func damaged(_ filled: Scratch, _ engine: String, _ seed: Int) throws -> Scratch {
    let scratch = try Scratch()
    try scratch.copyHome(of: filled)
    try Self.damage(scratch, engine, seed: seed)
    return scratch
  }

  /// Repairs a damaged store, and checks that each remaining entry is one that was written, and that nothing is
  /// deleted.
  ///
  /// - Returns: the number of entries that were saved.
  private func saved(_ filled: Scratch, _ engine: String, _ seed: Int, _ note: String) async throws -> Int {
    let scratch = try damaged(filled, engine, seed)
    let options = ["--backend", engine, "--output", "json"]
    let dryRun = try await scratch.cachectl(options + ["verify", "--repair", "--dry-run"])
    let repair = try await scratch.cachectl(options + ["verify", "--repair"])
    #expect([0, 65].contains(dryRun.status) && [0, 65].contains(repair.status), "\(note): \(dryRun) \(repair)")
    let check = try await scratch.cachectl(options + ["verify"])
    expectSuccess(check)
    let found = try await expectTrue(scratch, engine, note)
    guard repair.status == 65 else {
      #expect(found == Self.entries, "\(note): lost without a warning")
      return found
    }
    let report = try repair.document()["repair"]
    #expect(report?["saved"]?.number == Double(found), "\(note): \(repair.text)")
    let moved = try #require(report?["movedTo"]?.elements.first?.text, "\(note): \(repair.text)")
    #expect(moved.contains(".damaged-") && FileManager.default.fileExists(atPath: moved), "\(note): \(moved)")
    #expect(!scratch.exists("home/lmdb.crashed"), "\(note)")
    // A dry run that did not meet the same crash says the same.
    if !dryRun.output.isEmpty {
      #expect(try dryRun.document()["repair"]?["saved"]?.number == Double(found), "\(note): \(dryRun.text)")
    }
    return found
  }

  /// Exports the store, and checks that each entry is one that was written.
  private func expectTrue(_ scratch: Scratch, _ engine: String, _ note: String) async throws -> Int {
    let run = try await scratch.cachectl("--backend", engine, "export")
    #expect([0, 65].contains(run.status), "\(note): \(run.errors)")
    for line in run.lines {
      let entry = try JSON(Data(line.utf8))
      let key = entry["key"]?.text ?? ""
      let payload = try #require(Self.payloads[key], "\(note): \(key)")
      #expect(entry["payload"]?.text == payload, "\(note): \(key)")
    }
    return run.lines.count
  }

  /// The other commands, the next opening, and a removal.
  private func expectContract(_ filled: Scratch, _ engine: String, _ seed: Int, _ note: String) async throws {
    let scratch = try damaged(filled, engine, seed)
    let options = ["--backend", engine]
    let key = Self.key(seed % Self.entries)
    _ = try await expectTrue(scratch, engine, note)
    let shown = try await scratch.cachectl(options + ["show", "--raw", key])
    // After a crash the store is empty.
    let isReplaced = scratch.names(below: "home").contains { $0.hasPrefix("lmdb.damaged-") }
    #expect(([0, 65] + (isReplaced ? [66] : [])).contains(shown.status), "\(note): \(shown.errors)")
    if shown.status == 0 { #expect(shown.text == Self.payloads[key], "\(note): \(key)") }
    for command in [["ls"], ["stats"], ["compact"]] {
      let run = try await scratch.cachectl(options + command)
      #expect([0, 65].contains(run.status), "\(note), \(command): \(run.errors)")
      if run.status == 65 { #expect(run.errors.contains("verify --repair"), "\(note), \(command): \(run.errors)") }
    }
    // A crash ends the command; the next one begins with an empty store. Any other damage is a warning.
    var fetch = try await scratch.cachectl(options + ["fetch", "cities", "--output", "json"])
    if fetch.status == 65, scratch.exists("home/lmdb.crashed") {
      fetch = try await scratch.cachectl(options + ["fetch", "cities", "--output", "json"])
    }
    expectSuccess(fetch)
    #expect(try fetch.document()["items"]?.elements.count == 25, "\(note)")
    let removal = try await scratch.cachectl(options + ["rm", "--all", "--yes"])
    #expect(removal.status == 0, "\(note): \(removal.errors)")
    let check = try await scratch.cachectl(options + ["verify", "--output", "json"])
    expectSuccess(check)
    #expect(try check.document()["entriesChecked"] == 0, "\(note)")
  }
}
