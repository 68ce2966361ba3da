import Testing

/// The queries that were searched last.
@Suite struct QueriesTests {
  private func search(_ text: String, _ engine: String, in scratch: Scratch) async throws {
    expectSuccess(try await scratch.cachectl("--backend", engine, "fetch", "movies", "--query", text))
  }

  private func queries(_ engine: String, _ options: [String] = [], in scratch: Scratch) async throws -> [String?] {
    let run = try await scratch.cachectl(["--backend", engine, "queries", "--output", "json"] + options)
    expectSuccess(run)
    let document = try run.document()
    #expect(document.names == ["queries"])
    for query in document["queries"]?.elements ?? [] {
      #expect(query.names == ["query", "searchedAt"] && Contract.isTimestamp(query["searchedAt"]))
    }
    return document["queries"]?.elements.map { $0["query"]?.text } ?? []
  }

  @Test(arguments: Contract.persistentEngines)
  func queriesAreNewestFirstWithoutDuplicates(engine: String) async throws {
    let scratch = try Scratch()
    #expect(try await queries(engine, in: scratch) == [])
    for text in ["heat", "alien", "amelie", "heat"] { try await search(text, engine, in: scratch) }
    #expect(try await queries(engine, in: scratch) == ["heat", "amelie", "alien"])
    #expect(try await queries(engine, ["--limit", "1"], in: scratch) == ["heat"])
  }

  @Test(arguments: Contract.persistentEngines)
  func asManyAreKeptAsTheConfigurationSays(engine: String) async throws {
    let scratch = try Scratch()
    try scratch.configure(text: #"{"queries": {"maxCount": 2}}"#)
    for text in ["heat", "alien", "amelie"] { try await search(text, engine, in: scratch) }
    #expect(try await queries(engine, in: scratch) == ["amelie", "alien"])
  }

  @Test func aSearchThatFailsIsNotRemembered() async throws {
    let scratch = try Scratch()
    try scratch.write(
      #"{"origin": {"movies": {"kind": "tmdb", "baseURL": "http://127.0.0.1:1/", "apiKey": {"env": "API_KEY"}}}}"#,
      to: "failing.json")
    let run = try await scratch.cachectl(
      "--config", scratch.path("failing.json"), "fetch", "movies", "--query", "heat", environment: ["API_KEY": "k"])
    // The origin cannot be reached, or is not part of this version.
    #expect([69, 78].contains(run.status), "\(run.errors)")
    #expect(run.output.isEmpty)
    #expect(try await queries("sqlite", in: scratch) == [])
    try await search("alien", "sqlite", in: scratch)
    #expect(try await queries("sqlite", in: scratch) == ["alien"])
  }
}
