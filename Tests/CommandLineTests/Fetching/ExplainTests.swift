import Testing

/// `explain`, which does nothing, and `--verbose`, which explains in the same words what `fetch` does.
@Suite struct ExplainTests {
  static let resources: [[String]] = [
    ["cities", "--order", "name"], ["movies", "--query", "heat"], ["poster", "/24871.png"],
    ["url", "http://127.0.0.1:1/"],
  ]

  @Test(arguments: resources)
  func nothingIsFetchedAndNothingStored(resource: [String]) async throws {
    let scratch = try Scratch()
    let run = try await scratch.cachectl(["explain"] + resource + ["--output", "json"])
    expectSuccess(run)
    let document = try run.document()
    #expect(document["action"] == "fetch")
    #expect(document["forward"] == "uri-miss")
    #expect(document["reason"] == "nothing is stored")
    #expect(document["criteria"]?.elements.count == 1)
    #expect(document["key"]?.text?.hasPrefix("\(resource[0] == "poster" ? "posters" : resource[0])/v1/") == true)
    let stats = try await scratch.cachectl("stats", "--output", "json").document()
    #expect(stats["entries"] == 0 && stats["misses"] == 0)
  }

  /// A command line can be edited from fetch to explain.
  @Test(arguments: [
    ["cities", "--all", "--limit", "3"], ["movies", "--query", "heat", "--limit", "2"],
    ["poster", "/24871.png", "--out", "file"],
    ["http://127.0.0.1:1/", "-fsSLi", "-o", "file", "-m", "3", "--retry", "2", "--compressed"],
  ])
  func explainTakesTheOptionsOfFetch(arguments: [String]) async throws {
    let scratch = try Scratch()
    expectSuccess(try await scratch.cachectl(["explain"] + arguments))
    #expect(scratch.names(below: "work").isEmpty)
  }

  @Test func theDecisionFollowsFromTheStoredResponse() async throws {
    let engine = "plist"
    let scratch = try Scratch()
    expectSuccess(try await scratch.cachectl("--backend", engine, "fetch", "cities"))
    let rows: [(options: [String], action: String)] = [
      ([], "serve"), (["--max-age", "0s"], "revalidate"), (["--max-age", "0s", "--max-stale", "1h"], "serve"),
      (["--refresh"], "fetch"), (["--offline"], "serve"), (["--policy", "cached-then-network"], "serveThenRevalidate"),
      (["--page", "1", "--offline"], "fail"),
    ]
    for row in rows {
      let arguments = ["--backend", engine, "explain", "cities", "--output", "json"] + row.options
      let run = try await scratch.cachectl(arguments)
      expectSuccess(run)
      #expect(try run.document()["action"]?.text == row.action, "\(row.options)")
    }
  }

  @Test func verbosePrintsTheSameOfAFetch() async throws {
    let scratch = try Scratch()
    expectSuccess(try await scratch.cachectl("fetch", "cities"))
    let explained = try await scratch.cachectl("explain", "cities", "--output", "json").document()
    let fetched = try await scratch.cachectl("fetch", "cities", "--verbose")
    for criterion in explained["criteria"]?.elements ?? [] where criterion["name"] == "stored response" {
      let line = "stored response: \(criterion["finding"]?.text ?? "")"
      #expect(fetched.errorLines.contains(line))
    }
    #expect(
      fetched.errors.contains("decision: the cache serves the stored response, because the stored response is fresh"))
    #expect(try await scratch.cachectl("fetch", "cities").errors.contains("decision") == false)
  }

  @Test func aMistakeIsNamed() async throws {
    let scratch = try Scratch()
    for arguments in [["explain", "url", "ftp://a/"], ["explain", "movies", "--query", " "], ["explain", "town"]] {
      let run = try await scratch.cachectl(arguments)
      #expect(run.status == 64, "\(arguments)")
      #expect(run.errorLines.count == 1)
    }
  }
}
