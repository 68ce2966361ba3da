import Foundation
import Testing

/// Every command on every kind of damaged store: the status of the contract, and nothing lost.
@Suite struct DamageTableTests {
  /// What is where the file of a store was.
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

    /// A folder in place of a whole store is a mistake in the set-up.
    var status: Int32 { engine == "sqlite" && damage == .folder ? 73 : 65 }
  }

  static let cases = Contract.persistentEngines.flatMap { engine in
    Damage.allCases.map { Case(engine: engine, damage: $0) }
  }

  /// What works on one entry of the cities, and so fails for the damage.
  static let failing = [["rm", Contract.citiesKey], ["fetch", "cities", "--offline"]]
  /// What works on the whole store: it does what it can, and says what it cannot.
  static let reporting = [
    ["ls"], ["ls", "--output", "ndjson"], ["stats"], ["rm", "--state", "expired"], ["compact"], ["export"],
    ["show", Contract.citiesKey],
  ]
  /// What works on other namespaces.
  static let passing = [["queries"], ["show", "queries/v1/recent"]]
  /// What never fails because of a store that is damaged, as opposed to one that cannot be.
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
    if test.status == 65 { #expect(try verification.document()["issues"]?.elements.count == 1) }
    for command in Self.indifferent where test.status == 65 {
      expectSuccess(try await scratch.cachectl(options + command))
    }
    let doctor = try await scratch.cachectl(options + ["doctor"])
    #expect(doctor.status == test.status, "\(doctor.text)")
    if let before { #expect(try scratch.read(test.file) == before, "what is damaged is left for its repair") }
    if test.status == 65 { try await expectRemovable(scratch, options) }
  }

  /// The cache can be thrown away in any case: an empty, intact store is what is left.
  private func expectRemovable(_ scratch: Scratch, _ options: [String]) async throws {
    expectSuccess(try await scratch.cachectl(options + ["rm", "--all", "--yes"]))
    #expect(try await scratch.cachectl(options + ["verify", "--output", "json"]).document()["entriesChecked"] == 0)
    expectSuccess(try await scratch.cachectl(options + ["fetch", "cities"]))
    expectSuccess(try await scratch.cachectl(options + ["verify"]))
  }
}
