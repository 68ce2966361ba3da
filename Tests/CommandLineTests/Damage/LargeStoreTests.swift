import Foundation
import Testing

/// A leaf of zeros in an LMDB store so large that opening it checks no leaves, where LMDB itself would end the process.
@Suite struct LargeStoreTests {
  private static let entries = 2_000

  private func damagedStore() async throws -> Scratch {
    let scratch = try Scratch()
    let line = { (number: Int) in
      """
      {"format": 1, "key": "notes/\(10_000 + number)", "storedAt": "2026-01-01T00:00:00.000Z", \
      "freshUntil": "2099-01-01T00:00:00.000Z", "retainUntil": "2099-01-01T00:00:00.000Z", "contentType": "text/plain", \
      "attributes": {}, "payload": "\(String(repeating: "x", count: 1_000))"}

      """
    }
    try scratch.write((0..<Self.entries).map(line).joined(), to: "lines.ndjson")
    expectSuccess(try await scratch.cachectl("--backend", "lmdb", "import", scratch.path("lines.ndjson")))
    var data = try scratch.read("home/lmdb/data.mdb")
    let page = try #require(data.range(of: Data("notes/11000".utf8), options: .backwards)).lowerBound / 4_096 * 4_096
    data.replaceSubrange(page..<page + 4_096, with: Data(repeating: 0, count: 4_096))
    try scratch.write(data, to: "home/lmdb/data.mdb")
    return scratch
  }

  @Test func everyCommandGoesOnAroundIt() async throws {
    let scratch = try await damagedStore()
    let run = { (arguments: [String]) in try await scratch.cachectl(["--backend", "lmdb"] + arguments) }
    let preview = try await run(["verify", "--repair", "--dry-run", "--output", "json"])
    let saved = try #require(try preview.document()["repair"]?["saved"]?.number)
    #expect(saved > Double(Self.entries - 10) && saved < Double(Self.entries))
    for arguments in [["export"], ["ls", "--output", "ndjson"]] {
      let listed = try await run(arguments)
      expectDamage(listed)
      #expect(Double(listed.lines.count) == saved)
    }
    let check = try await run(["verify", "--output", "json"])
    #expect(try check.status == 65 && check.document()["entriesChecked"]?.number == saved)
    for arguments in [["doctor"], ["compact"], ["rm", "--soft", "--namespace", "notes"]] {
      #expect(try await run(arguments).status == 65, "\(arguments)")
    }
    let migration = try await scratch.cachectl("--output", "json", "migrate", "--from", "lmdb", "--to", "memory")
    expectDamage(migration)
    #expect(try migration.document()["copied"]?.number == saved)
    let repair = try await run(["verify", "--repair", "--output", "json"])
    #expect(try repair.status == 65 && repair.document()["repair"]?["saved"]?.number == saved)
    expectSuccess(try await run(["verify"]))
  }

  @Test func removingEverythingLeavesAnEmptySoundStore() async throws {
    let scratch = try await damagedStore()
    expectSuccess(try await scratch.cachectl("--backend", "lmdb", "rm", "--all", "--yes"))
    expectSuccess(try await scratch.cachectl("--backend", "lmdb", "verify"))
    #expect(try await scratch.cachectl("--backend", "lmdb", "ls", "--output", "ndjson").lines.isEmpty)
  }
}
