import Foundation
import Testing

/// Every command on every kind of damaged store: the status of the contract, and nothing lost.
@Suite struct DamageTableTests {
  /// The content at the path of the store's file.
  enum Damage: String, CaseIterable {
    case emptied
    case replaced
    case halved
    case folder
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let engine: String
    let damage: Damage
    var testDescription: String { "\(engine), \(damage)" }

    var file: String {
      switch engine {
      case "sqlite": "home/cache.sqlite"
      case "lmdb": "home/lmdb/data.mdb"
      default: "home/plist/cities.json"
      }
    }

    /// Damage to a file of one namespace leaves the others readable.
    var isOfOneNamespace: Bool { engine == "plist" }

    /// A directory in place of the store's file is a mistake in the setup.
    var status: Int32 { engine == "sqlite" && damage == .folder ? 73 : 65 }
  }

  static let cases = Contract.persistentEngines.flatMap { engine in
    Damage.allCases.map { Case(engine: engine, damage: $0) }
  }

  /// Commands that need one entry of the cities. They fail because of the damage.
  static let failing = [["rm", Contract.citiesKey], ["fetch", "cities", "--offline"]]
  /// Commands that use the whole store. They do what they can, and report the rest.
  static let reporting = [
    ["ls"], ["ls", "--output", "ndjson"], ["stats"], ["rm", "--state", "expired"], ["compact"], ["export"],
    ["show", Contract.citiesKey],
  ]
  /// Commands that use other namespaces.
  static let passing = [["queries"], ["show", "queries/v1/recent"]]
  /// Commands that never fail because of a damaged store.
  static let indifferent = [
    ["fetch", "cities"], ["explain", "cities"], ["backends"], ["config", "show"], ["--version"], ["help"],
  ]

  private func damagedStore(_ test: Case) async throws -> Scratch {
    let scratch = try Scratch()
    for command in [["cities"], ["movies", "--query", "heat"]] {
      expectSuccess(try await scratch.cachectl(["--backend", test.engine, "fetch"] + command))
    }
    let data = try scratch.read(test.file)
    switch test.damage {
    case .emptied: try scratch.write(Data(), to: test.file)
    case .replaced: try scratch.write("this is no store\n", to: test.file)
    case .halved: try scratch.write(data.prefix(data.count / 2), to: test.file)
    case .folder:
      try FileManager.default.removeItem(atPath: scratch.path(test.file))
      try scratch.makeFolder(test.file)
    }
    return scratch
  }

  @Test(arguments: cases)
  func everyCommandEndsAsTheContractSays(test: Case) async throws {
    let scratch = try await damagedStore(test)
    let before = test.damage == .folder ? nil : try scratch.read(test.file)
    let options = ["--backend", test.engine]
    for command in Self.failing {
      expectFailure(try await scratch.cachectl(options + command), status: test.status)
    }
    for command in Self.reporting {
      let run = try await scratch.cachectl(options + command)
      if test.status == 65 { expectDamage(run) } else { expectFailure(run, status: test.status) }
    }
    for command in Self.passing {
      let run = try await scratch.cachectl(options + command)
      if test.isOfOneNamespace {
        expectSuccess(run)
      } else if test.status == 65 {
        expectDamage(run)
      } else {
        expectFailure(run, status: test.status)
      }
    }
    let offline = try await scratch.cachectl(options + ["fetch", "movies", "--query", "heat", "--offline"])
    if test.isOfOneNamespace { expectSuccess(offline) } else { expectFailure(offline, status: test.status) }
    let verification = try await scratch.cachectl(options + ["verify", "--output", "json"])
    #expect(verification.status == test.status, "\(verification.errors)")
    if test.status == 65 {
      let issues = try verification.document()["issues"]?.elements ?? []
      #expect(issues.map { $0["kind"] } == ["structure"] && issues.map { $0["key"] } == [.null], "\(verification.text)")
    }
    if test.status == 65 {
      let fetched = try await scratch.cachectl(options + ["fetch", "cities", "--output", "json"])
      #expect(
        try fetched.document()["source"] == "origin" && fetched.errors.hasPrefix("{\"warning\":"), "\(fetched.errors)")
    }
    for command in Self.indifferent where test.status == 65 {
      expectSuccess(try await scratch.cachectl(options + command))
    }
    let doctor = try await scratch.cachectl(options + ["doctor"])
    #expect(doctor.status == test.status, "\(doctor.text)")
    if test.status == 65, test.damage != .folder { #expect(doctor.text.contains("verify"), "\(doctor.text)") }
    if let before { #expect(try scratch.read(test.file) == before, "a damaged store stays for its repair") }
    if test.status == 65 { try await expectRemovable(scratch, options) }
  }

  /// The user can remove the cache in any case. An empty, intact store remains.
  private func expectRemovable(_ scratch: Scratch, _ options: [String]) async throws {
    expectSuccess(try await scratch.cachectl(options + ["rm", "--all", "--yes"]))
    #expect(try await scratch.cachectl(options + ["verify", "--output", "json"]).document()["entriesChecked"] == 0)
    expectSuccess(try await scratch.cachectl(options + ["fetch", "cities"]))
    expectSuccess(try await scratch.cachectl(options + ["verify"]))
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
  func aStoreThatIsOutOfUseIsWarnedOfOnce(engine: String) async throws {
    let scratch = try await damagedStore(Case(engine: engine, damage: .replaced))
    // A search also stores the recent queries. The namespace of movies is another file of plist.
    for command in [["cities"], ["movies", "--query", "alien"]] where engine != "plist" || command == ["cities"] {
      let run = try await scratch.cachectl(["--backend", engine, "fetch"] + command)
      #expect(run.status == 0)
      #expect(run.errors.split(separator: "\n").count { $0.hasPrefix("cachectl: warning: ") } == 1, "\(run.errors)")
    }
  }
}
