import Foundation
import Testing

/// The engine `tiered`, as a user of the program sees it.
@Suite struct TieredTests {
  private func scratch() async throws -> Scratch {
    let scratch = try Scratch()
    try scratch.configure(
      text: #"{"backend": "tiered", "backends": {"tiered": {"remote": "sqlite", "localMaxBytes": "5KiB"}}}"#)
    for page in 0..<3 { expectSuccess(try await scratch.cachectl("fetch", "cities", "--page", "\(page)")) }
    return scratch
  }

  @Test func everyCommandWorks() async throws {
    let scratch = try await scratch()
    for command in [
      ["fetch", "cities", "--offline"], ["ls"], ["show", Contract.citiesKey], ["verify"], ["compact"], ["export"],
      ["rm", Contract.citiesKey], ["doctor"], ["rm", "--all", "--yes"],
    ] {
      let run = try await scratch.cachectl(command)
      expectSuccess(run)
      #expect(!run.errors.contains("warning"), "\(command): \(run.errors)")
    }
    #expect(try await scratch.cachectl("fetch", "cities", "--offline").status == 66, "the copy is removed too")
  }

  @Test func theTiersAreShown() async throws {
    let scratch = try await scratch()
    let statistics = try await scratch.cachectl("stats", "--output", "json").document()
    #expect(statistics.names == (Contract.statisticsMembers + ["tiers"]).sorted())
    #expect(statistics["entries"] == 3)
    let tiers = statistics["tiers"]?.elements ?? []
    #expect(tiers.compactMap { $0["name"] } == ["local", "remote"])
    #expect(tiers.compactMap { $0["entries"] } == [2, 3])
    let table = try await scratch.cachectl("stats").text
    #expect(table.contains(#/Local +2 entries/#) && table.contains(#/Remote +3 entries/#), "\(table)")
    let explanation = try await scratch.cachectl("explain", "cities", "--page", "2", "--output", "json").document()
    let tier = explanation["criteria"]?.elements.last
    #expect(tier?["name"] == "tier" && tier?["finding"] == "a local copy, confirmed by the remote store")
  }

  /// Another process changes the remote store.
  @Test func aCopyOfARemovedEntryIsNotServed() async throws {
    let scratch = try await scratch()
    let plain = ["--backend", "sqlite"]
    expectSuccess(try await scratch.cachectl(plain + ["rm", "--all", "--yes"]))
    #expect(try await scratch.cachectl("fetch", "cities", "--page", "2", "--offline").status == 66)
  }

  @Test func aDamagedLocalStoreDoesNotPreventAFetch() async throws {
    let scratch = try await scratch()
    let folder = "home/cache.sqlite.local/lmdb"
    try scratch.write(String(repeating: "no store ", count: 10_000), to: folder + "/data.mdb")
    let run = try await scratch.cachectl("fetch", "cities", "--offline", "--output", "json")
    expectSuccess(run)
    #expect(try run.document()["source"] == "cache")
    expectSuccess(try await scratch.cachectl("fetch", "cities", "--page", "4"))
    #expect(try await scratch.cachectl("stats", "--output", "json").document()["entries"] == 4)
  }
}
