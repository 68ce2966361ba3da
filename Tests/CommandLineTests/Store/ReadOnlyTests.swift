import Foundation
import Testing

/// The layer `readonly`, as a user of the program sees it.
@Suite struct ReadOnlyTests {
  private static let reading = [
    ["fetch", "cities"], ["fetch", "cities", "--offline"], ["explain", "cities"], ["ls"], ["show", Contract.citiesKey],
    ["stats"], ["queries"], ["verify"], ["export"], ["rm", "--all", "--dry-run"], ["verify", "--repair", "--dry-run"],
  ]
  private static let writing = [
    ["rm", Contract.citiesKey], ["rm", "--all", "--yes"], ["rm", "--soft", Contract.citiesKey],
    ["rm", "--namespace", "cities", "--yes"], ["compact"], ["import", "export"],
  ]

  /// The program's records of the use of a store.
  private func usage(_ scratch: Scratch) throws -> [String: Data] {
    let names = scratch.names(below: "home").filter { $0.hasSuffix(".uses") }
    return Dictionary(uniqueKeysWithValues: try names.map { ($0, try scratch.read("home/\($0)")) })
  }

  @Test(arguments: Contract.persistentEngines)
  func aStoreIsReadAndNotChanged(engine: String) async throws {
    let scratch = try Scratch()
    let plain = ["--backend", engine]
    expectSuccess(try await scratch.cachectl(plain + ["fetch", "cities"]))
    let export = try await scratch.cachectl(plain + ["export"])
    let other = try Scratch()
    expectSuccess(try await other.cachectl("fetch", "cities", "--page", "7"))
    try scratch.write(try await other.cachectl("export").output, to: "work/export")
    let usage = try usage(scratch)
    try scratch.configure(text: #"{"backend": "\#(engine)", "cache": {"layers": ["readonly"]}}"#)
    for command in Self.reading {
      let run = try await scratch.cachectl(command)
      expectSuccess(run)
      #expect(!run.errors.contains("warning"), "\(command): \(run.errors)")
    }
    #expect(try await scratch.cachectl("fetch", "cities", "--output", "json").document()["source"] == "cache")
    let new = try await scratch.cachectl("fetch", "cities", "--page", "1", "--output", "json")
    expectSuccess(new)
    #expect(try new.document()["source"] == "origin")
    #expect(new.errorLines.count == 1 && new.errors.contains("the store is read-only"), "\(new.errors)")
    #expect(try await scratch.cachectl("fetch", "cities", "--page", "1", "--require-store").status == 74)
    for command in Self.writing {
      let run = try await scratch.cachectl(command)
      #expect(
        run.status == 77 && run.errorLines.last?.contains("is read-only") == true, "\(command): \(run.errors)")
    }
    let destination = engine == "lmdb" ? "sqlite" : "lmdb"
    let migration = try await scratch.cachectl("migrate", "--from", engine, "--to", destination)
    expectFailure(migration, status: 77, mentioning: ["must not create one"])
    #expect(try self.usage(scratch) == usage)
    try scratch.configure(text: "{}")
    #expect(try await scratch.cachectl(plain + ["export"]).output == export.output)
  }

  @Test(arguments: Contract.persistentEngines)
  func aStoreIsNotCreated(engine: String) async throws {
    let scratch = try Scratch()
    let command = ["--backend", engine, "--set", "cache.layers=readonly"]
    let run = try await scratch.cachectl(command + ["fetch", "cities", "--output", "json"])
    expectSuccess(run)
    #expect(try run.document()["source"] == "origin")
    #expect(run.errors.contains("must not create one"), "\(run.errors)")
    let listing = try await scratch.cachectl(command + ["ls"])
    #expect(listing.status == 0 && listing.errors.contains("No store yet at"), "\(listing.errors)")
    #expect(scratch.names(below: "home") == [])
  }

  @Test func aNameThatIsNoneIsAMistake() async throws {
    let run = try await Scratch().cachectl("--set", "cache.layers=readnoly", "ls")
    expectFailure(run, status: 64, mentioning: ["cache.layers", "the nearest is readonly"])
  }
}
