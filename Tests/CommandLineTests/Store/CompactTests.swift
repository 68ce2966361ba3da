import Foundation
import TestOrigin
import Testing

/// `compact`.
@Suite struct CompactTests {
  @Test(arguments: Contract.persistentEngines)
  func expiredEntriesAreRemoved(engine: String) async throws {
    let scratch = try Scratch()
    // A response without a validator is useless when it is not fresh, and so it expires then.
    let server = try TestServer { _ in .json(OriginSettings.page) }
    let short = #""cache": {"timeToLive": "1ms", "staleIfError": "0s", "staleWhileRevalidate": "0s"}"#
    try scratch.write(#"{\#(short), "origin": {\#(OriginSettings.cities(server.url))}}"#, to: "short.json")
    let options = ["--backend", engine]
    expectSuccess(try await scratch.cachectl(options + ["fetch", "movies", "--query", "heat"]))
    // Last, because a write first removes the expired entries.
    expectSuccess(try await scratch.cachectl(options + ["--config", scratch.path("short.json"), "fetch", "cities"]))
    let before = try await scratch.cachectl(options + ["ls", "--output", "json"]).document()["entries"]?.elements ?? []
    #expect(before.count { $0["state"] == "expired" } == 1 && before.count == 3)
    let run = try await scratch.cachectl(options + ["compact", "--output", "json"])
    expectSuccess(run)
    let document = try run.document()
    #expect(
      document.names == [
        "backend", "entriesAfter", "entriesBefore", "freedBytes", "payloadBytesAfter", "payloadBytesBefore", "removed",
        "storageBytesAfter", "storageBytesBefore",
      ])
    #expect(document["backend"] == .text(engine) && document["removed"] == 1)
    #expect(document["entriesBefore"] == 3 && document["entriesAfter"] == 2)
    let after = try await scratch.cachectl(options + ["ls", "--output", "json"]).document()["entries"]?.elements ?? []
    #expect(after == before.filter { $0["state"] != "expired" }, "unexpired entries stay")
    expectSuccess(try await scratch.cachectl(options + ["verify"]))
  }

  @Test func aStoreInMemoryIsEmpty() async throws {
    let run = try await Scratch().cachectl("--backend", "memory", "compact", "--output", "json")
    expectSuccess(run)
    #expect(try run.document()["removed"] == 0)
  }

  @Test(arguments: Contract.persistentEngines)
  func theDiskGetsItsSpaceBack(engine: String) async throws {
    let scratch = try Scratch()
    let options = ["--backend", engine]
    expectSuccess(try await scratch.cachectl(options + ["fetch", "cities", "--all", "--quiet", "--output", "csv"]))
    expectSuccess(try await scratch.cachectl(options + ["rm", "--prefix", "cities/", "--yes"]))
    let run = try await scratch.cachectl(options + ["compact"])
    expectSuccess(run)
    #expect(run.lines.count == 3 && run.lines[1].hasPrefix("Before") && run.lines[2].hasPrefix("After"))
    #expect(run.errors.hasPrefix("\(engine): removed 0 expired entries, freed "))
    let bytes = try await scratch.cachectl(options + ["stats", "--output", "json"]).document()["storageBytes"]?.number
    #expect((bytes ?? .infinity) < 200_000, "the pages took more than half a megabyte")
  }
}
