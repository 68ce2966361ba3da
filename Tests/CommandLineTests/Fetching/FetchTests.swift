import Foundation
import Testing

/// The output of `fetch`, over every engine.
@Suite struct FetchTests {
  static let cities = ["fetch", "cities", "--output", "json"]
  static let movies = ["fetch", "movies", "--query", "star wars", "--output", "json"]

  @Test(arguments: Contract.engines, [cities, movies])
  func everyEngineGivesTheSameItems(engine: String, command: [String]) async throws {
    let scratch = try Scratch()
    let reference = try await scratch.cachectl(["--backend", "memory"] + command).document()
    let first = try await scratch.cachectl(["--backend", engine] + command)
    let second = try await scratch.cachectl(["--backend", engine] + command)
    for run in [first, second] {
      expectSuccess(run)
      #expect(run.errors.isEmpty, "\(run.errors)")
      let document = try run.document()
      #expect(document.names == Contract.fetchMembers)
      #expect(document["items"] == reference["items"])
      #expect(document["items"]?.elements.isEmpty == false)
      #expect(document["totalItems"] == reference["totalItems"])
      #expect(document["key"] == reference["key"])
      #expect(document["backend"] == .text(engine))
      #expect(document["stale"] == false)
      #expect(Contract.isTimestamp(document["storedAt"]) && Contract.isTimestamp(document["freshUntil"]))
    }
    #expect(try first.document()["source"] == "origin")
    #expect(try second.document()["source"] == (engine == "memory" ? "origin" : "cache"))
  }

  @Test(arguments: Contract.persistentEngines)
  func offlineTheCacheServesItsEntries(engine: String) async throws {
    let scratch = try Scratch()
    let options = ["--backend", engine]
    for command in [Self.cities, Self.movies] {
      expectFailure(
        try await scratch.cachectl(["--offline"] + options + command.dropLast(2)), status: 66,
        mentioning: ["not in the cache"])
      let online = try await scratch.cachectl(options + command).document()
      let offline = try await scratch.cachectl(options + command + ["--offline"])
      expectSuccess(offline)
      #expect(try offline.document()["items"] == online["items"])
      #expect(try offline.document()["storedAt"] == online["storedAt"])
      #expect(try offline.document()["source"] == "cache")
    }
    let elsewhere = try await scratch.cachectl(options + ["fetch", "cities", "--page", "7", "--offline"])
    expectFailure(elsewhere, status: 66, mentioning: ["page=7"])
  }

  @Test(arguments: Contract.engines)
  func citiesByRevenueAreATable(engine: String) async throws {
    let run = try await Scratch().cachectl("--backend", engine, "fetch", "cities", "--order", "revenue")
    expectSuccess(run)
    let rows = run.lines.map { $0.split(separator: " ").joined(separator: " ") }
    #expect(rows.contains { $0.contains("WASHINGTON DC $54,298,476,501 5,939") })
    #expect(rows.contains { $0.contains("LOUISVILLE KY $13,346,016,068 1,311") })
    #expect(rows.count == 26, "A header and the 25 cities of a page")
  }

  @Test func itemsHaveTheMembersOfTheContract() async throws {
    let scratch = try Scratch()
    for city in try await scratch.cachectl(Self.cities).document()["items"]?.elements ?? [] {
      #expect(city.names == Contract.cityMembers)
    }
    for movie in try await scratch.cachectl(Self.movies).document()["items"]?.elements ?? [] {
      #expect(movie.names == Contract.movieMembers)
    }
  }

  @Test(arguments: [
    (["--order", "revenue"], "revenue", true), (["--order", "revenue", "--sort", "asc"], "revenue", false),
    (["--order", "organizations"], "organizationCount", true),
    (["--order", "organizations", "--sort", "asc"], "organizationCount", false),
  ])
  func numbersAreOrdered(options: [String], member: String, isDescending: Bool) async throws {
    let document = try await Scratch().cachectl(Self.cities + options).document()
    let numbers = document["items"]?.elements.compactMap { $0[member]?.number } ?? []
    #expect(numbers.count > 1)
    #expect(numbers == numbers.sorted(by: isDescending ? { $0 > $1 } : { $0 < $1 }))
  }

  @Test func pagesFollowEachOther() async throws {
    let scratch = try Scratch()
    let first = try await scratch.cachectl(Self.cities).document()
    let second = try await scratch.cachectl(Self.cities + ["--page", "1"]).document()
    #expect(first["page"] == 0 && second["page"] == 1)
    #expect(first["totalPages"] == 243 && first["totalItems"] == 6057)
    let all = try await scratch.cachectl("fetch", "cities", "--all", "--limit", "60", "--output", "ndjson")
    let pages = (first["items"]?.elements ?? []) + (second["items"]?.elements ?? [])
    #expect(try Array(all.documents().prefix(50)) == pages)
    #expect(try all.documents().count == 60)
  }

  @Test func limitCutsThePage() async throws {
    let document = try await Scratch().cachectl(Self.cities + ["--limit", "3"]).document()
    #expect(document["items"]?.elements.count == 3)
    #expect(document["totalItems"] == 6057)
  }

  @Test(arguments: Contract.persistentEngines)
  func aPosterIsAnImageWithTheSameBytesFromTheCache(engine: String) async throws {
    let scratch = try Scratch()
    let command = ["--backend", engine, "fetch", "poster", "/2201.png", "--width", "185"]
    let fromOrigin = try await scratch.cachectl(command)
    let toFile = try await scratch.cachectl(command + ["--out", scratch.path("poster.png")])
    let facts = try await scratch.cachectl(command + ["--output", "json"]).document()
    expectSuccess(fromOrigin)
    expectSuccess(toFile)
    #expect(fromOrigin.output.starts(with: [0x89, 0x50, 0x4E, 0x47]))
    #expect(try scratch.read("poster.png") == fromOrigin.output)
    #expect(facts["source"] == "cache")
    #expect(facts["bytes"] == .number(Double(fromOrigin.output.count)))
    #expect(facts["contentType"] == "image/png")
  }

  @Test(arguments: [
    (["cities", "--page", "243"], ["no page 243", "the last is 242"]),
    (["cities", "--page", "9223372036854775807"], ["no page 9223372036854775807", "the last is 242"]),
    (["movies", "--query", "star", "--page", "6"], ["no page 6", "search is 5"]),
  ])
  func aPageBeyondTheLastIsNotFoundAndNotKept(arguments: [String], words: [String]) async throws {
    let scratch = try Scratch()
    expectFailure(try await scratch.cachectl(["fetch"] + arguments), status: 66, mentioning: words)
    #expect(try await scratch.cachectl("ls", "--output", "csv").lines.count == 1)
    #expect(try await scratch.cachectl("queries", "--output", "csv").lines.count == 1)
  }
}
