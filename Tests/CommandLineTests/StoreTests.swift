import Foundation
import Testing

/// The commands that look into a store and remove from it.
@Suite struct StoreTests {
  private static let key = "cities/v1/order=revenue/origin=sample/page=0/sort=desc"
  private let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  @Test(arguments: Engines.persistent)
  func lsShowsEveryFieldAndPages(_ engine: String) async throws {
    let all = ["--backend", engine]
    _ = try await sandbox.run(all + ["fetch", "cities"])
    _ = try await sandbox.run(all + ["fetch", "movies", "--query", "alien"])
    let listing = try await sandbox.run(all + ["ls", "--output", "json"]).json()
    let entries = try #require(listing["entries"] as? [[String: Any]])
    #expect(listing["cursor"] is NSNull)
    #expect(entries.map { $0["namespace"] as? String } == ["cities", "movies", "queries"])
    let keys = ["bytes", "contentType", "freshUntil", "key", "namespace", "retainUntil", "state", "storedAt"]
    #expect(entries.allSatisfy { $0.keys.sorted() == keys })
    let stored = try #require(entries.first?["storedAt"] as? String)
    #expect(stored.hasSuffix("Z") && stored.contains("T"))
    var paged: [String] = []
    var cursor: String?
    repeat {
      let more = cursor.map { ["--cursor", $0] } ?? []
      let page = try await sandbox.run(all + ["ls", "--limit", "1", "--output", "json"] + more).json()
      paged += (page["entries"] as? [[String: Any]] ?? []).compactMap { $0["key"] as? String }
      cursor = page["cursor"] as? String
    } while cursor != nil
    #expect(paged == entries.compactMap { $0["key"] as? String })
    let cities = try await sandbox.run(all + ["ls", "--prefix", "cities/v1", "--state", "fresh", "--output", "ndjson"])
    #expect(try cities.lines().count == 1)
    #expect(try await sandbox.run(all + ["ls", "--state", "stale", "--output", "ndjson"]).output == "")
  }

  @Test(arguments: Engines.persistent)
  func showPrintsAnEntry(_ engine: String) async throws {
    _ = try await sandbox.run("--backend", engine, "fetch", "cities")
    let document = try await sandbox.run("show", Self.key, "--backend", engine, "--output", "json").json()
    let payload = try #require(document["payload"] as? String)
    let raw = try await sandbox.run("show", "--raw", Self.key, "--backend", engine)
    #expect(raw.output == payload)
    #expect(document["bytes"] as? Int == raw.outputBytes.count)
    #expect((document["attributes"] as? [String: String])?["etag"] != nil)
    #expect(try await sandbox.run("show", "cities/none", "--backend", engine).status == 66)
    #expect(try await sandbox.run("show", "no key", "--backend", engine).status == 64)
  }

  @Test(arguments: Engines.persistent)
  func rmRemovesWhatIsNamedAndNothingElse(_ engine: String) async throws {
    let all = ["--backend", engine]
    for page in ["0", "1", "2"] { _ = try await sandbox.run(all + ["fetch", "cities", "--page", page]) }
    _ = try await sandbox.run(all + ["fetch", "movies", "--query", "alien"])
    func count() async throws -> Int {
      try await sandbox.run(all + ["ls", "--output", "ndjson"]).lines().count
    }
    #expect(try await count() == 5)
    #expect(try await sandbox.run(all + ["rm", Self.key, "--dry-run"]).status == 0)
    #expect(try await count() == 5)
    #expect(try await sandbox.run(all + ["rm", Self.key, "--output", "json"]).json()["removed"] as? Int == 1)
    #expect(try await count() == 4)
    #expect(try await sandbox.run(all + ["rm", Self.key]).status == 66)
    #expect(try await sandbox.run(all + ["rm", "--older-than", "1d"]).status == 0)
    #expect(try await count() == 4)
    #expect(try await sandbox.run(all + ["rm", "--namespace", "cities"]).status == 0)
    #expect(try await count() == 2)
    #expect(try await sandbox.run(all + ["rm", "--all"]).status == 64)
    #expect(try await sandbox.run(all + ["rm"]).status == 64)
    #expect(try await sandbox.run(all + ["rm", "--all", "--state", "fresh", "--yes"]).status == 64)
    #expect(try await count() == 2)
    #expect(try await sandbox.run(all + ["rm", "--all", "--yes"]).status == 0)
    #expect(try await count() == 0)
  }

  @Test(arguments: Engines.persistent)
  func statsCountEntriesAndUse(_ engine: String) async throws {
    let all = ["--backend", engine]
    for _ in 0..<3 { _ = try await sandbox.run(all + ["fetch", "cities"]) }
    let stats = try await sandbox.run(all + ["stats", "--output", "json"]).json()
    #expect(stats["backend"] as? String == engine)
    #expect(stats["entries"] as? Int == 1)
    #expect(stats["fresh"] as? Int == 1)
    #expect(stats["hits"] as? Int == 2)
    #expect(stats["misses"] as? Int == 1)
    #expect(stats["storageBytes"] as? Int ?? 0 > stats["payloadBytes"] as? Int ?? 0)
    #expect((stats["path"] as? String)?.hasPrefix(sandbox.home) == true)
  }

  @Test func nativeToolsReadTheStores() async throws {
    for engine in Engines.persistent { _ = try await sandbox.run("--backend", engine, "fetch", "cities") }
    let sqlite = try await sandbox.tool(
      "sqlite3", "home/cache.sqlite",
      "SELECT key, fresh_until > stored_at, json_extract(payload, '$.items[0].name') FROM entries")
    #expect(sqlite.output == "\(Self.key)|1|WASHINGTON\n")
    #expect(try await sandbox.tool("mdb_stat", "-a", "home/lmdb").output.contains("Status of cities"))
    #expect(try await sandbox.tool("mdb_dump", "-p", "-s", "cities", "home/lmdb").output.contains(Self.key))
    let filter = ".entries[\"\(Self.key)\"].payload | fromjson | .items[0].name"
    #expect(try await sandbox.tool("jq", "-r", filter, "home/plist/cities.json").output == "WASHINGTON\n")
    #expect(try await sandbox.tool("plutil", "-p", "home/plist/cities.json").output.contains("WASHINGTON"))
  }

  @Test func backendsAreListedShownAndTested() async throws {
    let run = try await sandbox.run("backends", "--output", "json")
    let rows = try #require(try JSONSerialization.jsonObject(with: Data(run.outputBytes)) as? [[String: Any]])
    #expect(Set(rows.compactMap { $0["name"] as? String }) == Set(Engines.all))
    #expect(rows.allSatisfy { $0.keys.sorted() == ["builtIn", "capabilities", "name", "path", "summary", "version"] })
    for engine in Engines.all {
      #expect(try await sandbox.run("backends", "show", engine, "--output", "json").json()["name"] as? String == engine)
    }
    let report = try await sandbox.run("backends", "test", "memory", "--output", "json").json()
    #expect(report["failed"] as? Int == 0)
    #expect(report["passed"] as? Int ?? 0 > 50)
    #expect(try await sandbox.run("backends", "show", "mysql").status == 78)
  }
}
