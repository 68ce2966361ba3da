import Foundation
import SeededNumbers
import Testing

/// Stores whose files are damaged: an answer from the origin or an error, never a wrong answer, a crash or a loss.
@Suite struct DamageTests {
  /// What was done to the file of a store.
  struct Damage: Sendable, CustomTestStringConvertible {
    enum Kind: Sendable {
      case emptied
      case replaced
      case halved
      case withoutLastByte
      case flippedBit(seed: UInt64)
    }

    let engine: String
    let kind: Kind

    var testDescription: String { "\(engine), \(kind)" }

    var file: String {
      switch engine {
      case "sqlite": "home/cache.sqlite"
      case "lmdb": "home/lmdb/data.mdb"
      default: "home/plist/cities.json"
      }
    }

    func apply(to data: Data) -> Data {
      switch kind {
      case .emptied: return Data()
      case .replaced: return Data("this is no store\n".utf8)
      case .halved: return data.prefix(data.count / 2)
      case .withoutLastByte: return data.dropLast()
      case .flippedBit(let seed):
        var damaged = data
        // The generator of Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (2014).
        var number = seed &* 0x9E37_79B9_7F4A_7C15
        number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
        number ^= number >> 31
        damaged[Int(number >> 3) % damaged.count] ^= 1 << (number & 7)
        return damaged
      }
    }

    /// Whether the entry may have become invisible: a bit of its key may have changed, which makes it another key.
    var mayHideEntries: Bool { if case .flippedBit = kind { true } else { false } }
  }

  static let damages = Contract.persistentEngines.flatMap { engine in
    let cuts: [Damage.Kind] = [.emptied, .replaced, .halved, .withoutLastByte]
    return (cuts + Thoroughness.seeds(4, of: 16).map { .flippedBit(seed: $0) }).map { Damage(engine: engine, kind: $0) }
  }

  /// What a store held before it was damaged.
  private struct Before {
    let scratch: Scratch
    let cities: JSON?
    let movies: JSON?
    let names: [String]
  }

  private static let cities = ["fetch", "cities", "--output", "json"]
  private static let movies = ["fetch", "movies", "--query", "heat", "--output", "json"]

  private func damagedStore(_ damage: Damage) async throws -> Before {
    let scratch = try Scratch()
    let cities = try await scratch.cachectl(["--backend", damage.engine] + Self.cities).document()["items"]
    let movies = try await scratch.cachectl(["--backend", damage.engine] + Self.movies).document()["items"]
    let names = scratch.names(below: "home")
    let file = FileHandle(forUpdatingAtPath: scratch.path(damage.file))
    let damaged = damage.apply(to: try scratch.read(damage.file))
    try file?.write(contentsOf: damaged)
    try file?.truncate(atOffset: UInt64(damaged.count))
    try file?.close()
    return Before(scratch: scratch, cities: cities, movies: movies, names: names)
  }

  @Test(arguments: damages)
  func aDamagedStoreNeverGivesWrongData(damage: Damage) async throws {
    let before = try await damagedStore(damage)
    let options = ["--backend", damage.engine]
    let damaged = try before.scratch.read(damage.file)
    for command in [["ls"], ["stats"], ["queries"], ["show", Contract.citiesKey]] {
      expectDataOrDamage(try await before.scratch.cachectl(options + command), damage)
      // The next command would begin with an empty store.
      before.scratch.forgetCrash(damage.engine)
    }
    #expect(try before.scratch.read(damage.file) == damaged, "Reading changes nothing")
    for (command, items) in [(Self.cities, before.cities), (Self.movies, before.movies)] {
      let offline = try await before.scratch.cachectl(options + command + ["--offline"])
      expectDataOrDamage(offline, damage)
      before.scratch.forgetCrash(damage.engine)
      if offline.status == 0 { #expect(try offline.document()["items"] == items) }
      var fetched = try await before.scratch.cachectl(options + command)
      if before.scratch.hasCrashed(damage.engine) {
        expectDamage(fetched)
        fetched = try await before.scratch.cachectl(options + command)
      }
      expectSuccess(fetched)
      #expect(try fetched.document()["items"] == items)
      if offline.status == 65 {
        #expect(try fetched.document()["source"] == "origin")
        #expect(fetched.errors.hasPrefix("{\"warning\":"), "\(fetched.errors)")
      }
    }
    let names = Set(before.scratch.names(below: "home"))
    #expect(names.isSuperset(of: before.names), "Nothing is deleted")
  }

  private func expectDataOrDamage(_ run: Run, _ damage: Damage, sourceLocation: SourceLocation = #_sourceLocation) {
    switch run.status {
    case 0: break
    case 66 where damage.mayHideEntries: expectFailure(run, status: 66, sourceLocation: sourceLocation)
    default: expectDamage(run, sourceLocation: sourceLocation)
    }
  }

  @Test(arguments: Contract.persistentEngines, [Damage.Kind.halved, .replaced])
  func aStoreThatIsNoneIsReportedAsDamaged(engine: String, kind: Damage.Kind) async throws {
    let before = try await damagedStore(Damage(engine: engine, kind: kind))
    let options = ["--backend", engine]
    for command in [["ls"], ["show", Contract.citiesKey], Self.cities + ["--offline"]] {
      let run = try await before.scratch.cachectl(options + command + ["--output", "table"])
      #expect(run.status == 65, "\(command): \(run.errors)")
    }
  }

  @Test func otherNamespacesOfAFolderStayReadable() async throws {
    let damage = Damage(engine: "plist", kind: .halved)
    let before = try await damagedStore(damage)
    let damaged = try before.scratch.read(damage.file)
    let options = ["--backend", "plist"]
    let movies = try await before.scratch.cachectl(options + Self.movies + ["--offline"])
    expectSuccess(movies)
    #expect(try movies.document()["items"] == before.movies)
    expectSuccess(try await before.scratch.cachectl(options + ["queries"]))
    expectFailure(
      try await before.scratch.cachectl(options + ["show", Contract.citiesKey]), status: 65, mentioning: ["cities.json"]
    )
    expectSuccess(try await before.scratch.cachectl(options + Self.cities))
    #expect(try before.scratch.read(damage.file) == damaged, "What is damaged is left for its repair")
  }

  @Test func aMissingCommaStopsOnlyItsOwnNamespace() async throws {
    let scratch = try Scratch()
    for command in [["cities"], ["movies", "--query", "heat"]] {
      expectSuccess(try await scratch.cachectl(["--backend", "plist", "fetch"] + command))
    }
    let text = String(decoding: try scratch.read("home/plist/cities.json"), as: UTF8.self)
    try scratch.write(text.replacing("\"format\": 1,", with: "\"format\": 1"), to: "home/plist/cities.json")
    for command in ["ls", "stats", "export"] {
      let run = try await scratch.cachectl("--backend", "plist", command, "--output", "json")
      #expect(run.status == 65 && run.errors.contains("cities.json"), "\(run.errors)")
    }
    let migration = try await scratch.cachectl("--output", "json", "migrate", "--from", "plist", "--to", "lmdb")
    #expect(migration.status == 65 && migration.errors.contains("cities.json"))
    expectSuccess(try await scratch.cachectl("--backend", "plist", "ls", "--namespace", "movies"))
    // A full cache cannot be counted, and so stores nothing new.
    for query in ["alien", "amadeus", "fargo"] {
      expectSuccess(
        try await scratch.cachectl(
          ["--backend", "plist", "fetch", "movies", "--query", query], environment: ["CACHECTL_CACHE_MAX_ENTRIES": "2"])
      )
    }
  }

  @Test(arguments: Contract.persistentEngines)
  func aStoreThatIsOutOfUseIsWarnedOfOnce(_ engine: String) async throws {
    let scratch = try await damagedStore(Damage(engine: engine, kind: .replaced)).scratch
    // A search also stores the recent queries. The namespace of movies is another file of plist.
    for command in [["cities"], ["movies", "--query", "alien"]] where engine != "plist" || command == ["cities"] {
      let run = try await scratch.cachectl(["--backend", engine, "fetch"] + command)
      #expect(run.status == 0)
      #expect(run.errors.split(separator: "\n").count { $0.hasPrefix("cachectl: warning: ") } == 1, "\(run.errors)")
    }
  }
}
