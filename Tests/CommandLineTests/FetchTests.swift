import Foundation
import Testing

/// Fetching, from outside: which engine is configured changes where entries are, and nothing else.
@Suite struct FetchTests {
  private let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  @Test(arguments: Engines.all)
  func citiesByRevenueAreTheSameOnEveryEngine(_ engine: String) async throws {
    let run = try await sandbox.run("--backend", engine, "fetch", "cities", "--order", "revenue", "--output", "json")
    #expect(run.status == 0)
    #expect(run.errors == "")
    let document = try run.json()
    #expect(document["source"] as? String == "origin")
    #expect(document["backend"] as? String == engine)
    #expect(document["totalItems"] as? Int == 6_057)
    #expect(document["totalPages"] as? Int == 243)
    let reference = try await sandbox.run("fetch", "cities", "--backend", "memory", "--output", "json").json()
    #expect(try items(document) == items(reference))
    let first = try #require((document["items"] as? [[String: Any]])?.first)
    #expect(first["name"] as? String == "WASHINGTON")
    #expect(first["revenue"] as? Int == 54_298_476_501)
    #expect(first["organizationCount"] as? Int == 5_939)
  }

  @Test(arguments: Engines.persistent)
  func theSecondRunAnswersFromTheCache(_ engine: String) async throws {
    for arguments in [["fetch", "cities", "--page", "2"], ["fetch", "movies", "--query", "star wars"]] {
      let words = arguments + ["--backend", engine, "--output", "json"]
      let first = try await sandbox.run(words).json()
      let second = try await sandbox.run(words).json()
      #expect(first["source"] as? String == "origin")
      #expect(second["source"] as? String == "cache")
      #expect(second["stale"] as? Bool == false)
      #expect(try items(first) == items(second))
      #expect(first["storedAt"] as? String == second["storedAt"] as? String)
      let offline = try await sandbox.run(words + ["--offline"])
      #expect(offline.status == 0)
      #expect(try items(offline.json()) == items(first))
    }
  }

  @Test(arguments: Engines.all)
  func offlineWithoutAnEntryIsNotFound(_ engine: String) async throws {
    let run = try await sandbox.run("fetch", "cities", "--offline", "--backend", engine)
    #expect(run.status == 66)
    #expect(run.output == "")
    #expect(run.errors.hasPrefix("cachectl: ") && run.errors.hasSuffix("\n"))
    #expect(run.errors.split(separator: "\n").count == 1)
  }

  @Test(arguments: Engines.all)
  func theTableIsForPeople(_ engine: String) async throws {
    let run = try await sandbox.run("--backend", engine, "fetch", "cities", "--order", "revenue", "--limit", "3")
    #expect(
      run.output == """
        #  City         State          Revenue  Organizations
        1  WASHINGTON   DC     $54,298,476,501          5,939
        2  LOUISVILLE   KY     $13,346,016,068          1,311
        3  NEW ORLEANS  LA     $10,218,019,869          1,143

        """)
    #expect(run.errors.contains("from the origin"))
    let quiet = try await sandbox.run("--backend", engine, "fetch", "cities", "--quiet")
    #expect(quiet.errors == "")
  }

  @Test func editingTheConfigurationSwapsTheEngine() async throws {
    for engine in Engines.persistent {
      try sandbox.write(#"{"backend": "\#(engine)"}"#, to: "cachectl.json")
      let first = try await sandbox.run("fetch", "cities", "--output", "json").json()
      let second = try await sandbox.run("fetch", "cities", "--output", "json").json()
      #expect(first["backend"] as? String == engine)
      #expect(first["source"] as? String == "origin")
      #expect(second["source"] as? String == "cache")
    }
  }

  @Test func policiesSayWhoAnswers() async throws {
    let words = ["fetch", "cities", "--output", "json"]
    _ = try await sandbox.run(words)
    let both = try await sandbox.run(words + ["--policy", "cached-then-network"]).lines()
    #expect(both.map { $0["source"] as? String } == ["cache", "cache"])
    #expect(both.map { $0["revalidated"] as? Bool } == [false, true])
    let aged = try await sandbox.run(words + ["--max-age", "0s"]).json()
    #expect(aged["revalidated"] as? Bool == true)
    let refreshed = try await sandbox.run(words + ["--refresh"]).json()
    #expect(refreshed["source"] as? String == "origin")
    #expect(try await sandbox.run(words + ["--refresh", "--offline"]).status == 64)
  }

  @Test func everyPageIsFetchedOnce() async throws {
    let run = try await sandbox.run("fetch", "cities", "--all", "--output", "ndjson", "--backend", "memory")
    let ids = try run.lines().compactMap { $0["id"] as? String }
    #expect(ids.count == 6_057)
    #expect(Set(ids).count == 6_057)
  }

  @Test func csvHasAHeaderAndCRLF() async throws {
    let run = try await sandbox.run("fetch", "cities", "--limit", "1", "--output", "csv", "--order", "organizations")
    #expect(
      run.output
        == "id,name,subName,revenue,organizationCount\r\nDC/WASHINGTON,WASHINGTON,DC,54298476501,5939\r\n")
  }

  @Test(arguments: Engines.persistent)
  func postersComeBackByteForByte(_ engine: String) async throws {
    let words = ["fetch", "poster", "/2201.png", "--width", "92", "--backend", engine]
    let first = try await sandbox.run(words)
    #expect(first.outputBytes.starts(with: [0x89, 0x50, 0x4E, 0x47]))
    let second = try await sandbox.run(words + ["--offline", "--out", "poster.png"])
    #expect(second.status == 0)
    #expect(try Array(Data(contentsOf: URL(fileURLWithPath: sandbox.folder + "/poster.png"))) == first.outputBytes)
    #expect(try await sandbox.tool("file", "poster.png").output.contains("PNG image data, 92 x 138"))
    #expect(try await sandbox.run("fetch", "poster", "/nothing.png", "--backend", engine).status == 66)
  }

  @Test(arguments: Engines.persistent)
  func queriesAreRememberedNewestFirst(_ engine: String) async throws {
    try sandbox.write(#"{"backend": "\#(engine)", "queries": {"maxCount": 3}}"#, to: "cachectl.json")
    for query in ["star wars", "amelie", "batman", "alien", "amelie"] {
      #expect(try await sandbox.run("fetch", "movies", "--query", query).status == 0)
    }
    #expect(try await sandbox.run("fetch", "movies", "--query", "never seen", "--offline").status == 66)
    let queries = try #require(
      try await sandbox.run("queries", "--output", "json").json()["queries"] as? [[String: Any]])
    #expect(queries.map { $0["query"] as? String } == ["amelie", "alien", "batman"])
    #expect(try await sandbox.run("queries", "--limit", "1", "--output", "csv").output.contains("amelie"))
  }

  @Test(arguments: [("alpha", 78), ("real", 78), ("dev", 0)] as [(String, Int32)])
  func originsOfLaterVersionsAreRefused(_ environment: String, _ status: Int32) async throws {
    try sandbox.write(#"{"environment": "\#(environment)"}"#, to: "cachectl.json")
    let run = try await sandbox.run("fetch", "cities")
    #expect(run.status == status)
    if status != 0 { #expect(run.errors.contains("\"environment\" to \"dev\"")) }
  }
}
