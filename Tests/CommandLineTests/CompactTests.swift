import Foundation
import Testing

/// `compact`.
@Suite struct CompactTests {
  @Test(arguments: Contract.engines)
  func whatHasExpiredIsRemoved(engine: String) async throws {
    let scratch = try Scratch()
    let short = #"{"cache": {"timeToLive": "1ms", "staleIfError": "0s", "staleWhileRevalidate": "0s"}}"#
    try scratch.write(short, to: "short.json")
    let options = ["--backend", engine]
    let expiring = options + ["--config", scratch.path("short.json")]
    for page in 0..<4 {
      expectSuccess(try await scratch.cachectl(expiring + ["fetch", "cities", "--page", "\(page)"]))
    }
    expectSuccess(try await scratch.cachectl(options + ["fetch", "movies", "--query", "heat"]))
    let before = try await scratch.cachectl(options + ["ls", "--output", "json"]).document()["entries"]?.elements ?? []
    let expired = before.count { $0["state"] == "expired" }
    let run = try await scratch.cachectl(options + ["compact", "--output", "json"])
    expectSuccess(run)
    let document = try run.document()
    #expect(
      document.names == [
        "backend", "entriesAfter", "entriesBefore", "freedBytes", "payloadBytesAfter", "payloadBytesBefore", "removed",
        "storageBytesAfter", "storageBytesBefore",
      ])
    #expect(document["backend"] == .text(engine))
    #expect(document["removed"] == .number(Double(expired)))
    #expect(document["entriesBefore"] == .number(Double(before.count)))
    let after = try await scratch.cachectl(options + ["ls", "--output", "json"]).document()["entries"]?.elements ?? []
    #expect(after.count == before.count - expired && after == before.filter { $0["state"] != "expired" })
    expectSuccess(try await scratch.cachectl(options + ["verify"]))
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
