import Foundation
import TestOrigin
import Testing

/// The public services, replaced by servers with the same form of responses, on every engine.
@Suite struct PublicServiceTests {
  private static let environment = ["KEY": "k3y"]

  @Test(arguments: Contract.engines)
  func citiesAreTheCitiesOfTheOrganizations(engine: String) async throws {
    let (scratch, origin) = (try Scratch(), try NonprofitOrigin(organizations: 60))
    try scratch.configure(OriginSettings.cities(origin.url, kind: "propublica"))
    let command = ["--backend", engine, "fetch", "cities", "--output", "json"]
    for page in 0...2 {
      let document = try await scratch.cachectl(command + ["--page", String(page)]).document()
      #expect(document["page"] == .number(Double(page)) && document["totalPages"] == 3 && document["totalItems"] == 60)
      #expect(document["items"]?.elements.isEmpty == false && document["source"] == "origin")
    }
    let again = try await scratch.cachectl(command)
    expectSuccess(again)
    let items = try again.document()["items"]?.elements ?? []
    #expect(items.allSatisfy { $0.names == Contract.cityMembers && $0["revenue"] == .null })
    #expect(items.first?["name"] == "Portland" && items.first?["organizationCount"] == 7)
    #expect(origin.server.count(of: NonprofitOrigin.path) == (engine == "memory" ? 4 : 3))
  }

  @Test func anEmptyListOfOrganizationsIsAResponse() async throws {
    let engine = "lmdb"
    let (scratch, origin) = (try Scratch(), try NonprofitOrigin(organizations: 0))
    try scratch.configure(OriginSettings.cities(origin.url, kind: "propublica"))
    let document = try await scratch.cachectl(
      "--backend", engine, "fetch", "cities", "--output", "json"
    ).document()
    #expect(document["items"]?.elements.isEmpty == true && document["totalItems"] == 0 && origin.server.count == 1)
  }

  @Test(arguments: Contract.engines)
  func moviesAndPostersComeWithTheirQuirks(engine: String) async throws {
    let (scratch, origin) = (try Scratch(), try MovieDatabaseOrigin(key: "k3y", token: "none", movies: 45))
    try scratch.configure(OriginSettings.movies(origin.url))
    let options = ["--backend", engine]
    let search = options + ["fetch", "movies", "--query", "star wars", "--output", "json"]
    let first = try await scratch.cachectl(search, environment: Self.environment).document()
    let second = try await scratch.cachectl(search, environment: Self.environment).document()
    #expect(first["items"] == second["items"] && first["totalPages"] == 3 && first["totalItems"] == 45)
    #expect(first["items"]?.elements.contains { $0["posterPath"] == .null } == true)
    #expect(first["items"]?.elements.contains { $0["releaseDate"] == .null } == true)
    let poster = try await scratch.cachectl(
      options + ["fetch", "poster", "/poster0.png", "--width", "185"], environment: Self.environment)
    #expect(poster.output.starts(with: [0x89, 0x50, 0x4E, 0x47]) && poster.text.hasSuffix("/t/p/w185/poster0.png"))
    #expect(origin.server.count(of: MovieDatabaseOrigin.path) == (engine == "memory" ? 2 : 1))
  }

  @Test(arguments: [
    (MovieDatabaseOrigin.FailureForm.complete, "(400): Invalid page"), (.withoutSuccess, "(400): Invalid page"),
    (.former, "(422): page must be less than or equal to 1"),
  ])
  func aPageThatTheServerRejectsIsAMistake(form: MovieDatabaseOrigin.FailureForm, message: String) async throws {
    let scratch = try Scratch()
    let origin = try MovieDatabaseOrigin(key: "k3y", token: "none", lastPage: 1, failures: form)
    try scratch.configure(OriginSettings.movies(origin.url))
    let command = ["fetch", "movies", "--query", "x", "--page"]
    expectSuccess(try await scratch.cachectl(command + ["1"], environment: Self.environment))
    let run = try await scratch.cachectl(command + ["2"], environment: Self.environment)
    expectFailure(run, status: 64, mentioning: [message])
    #expect(origin.server.count == 2)
  }

  @Test(arguments: [
    (["movies", "--query", "x", "--page", "501"], "k3y", 64), (["movies", "--query", "x"], "other", 77),
    (["poster", "/no-image.jpg"], "k3y", 66),
  ])
  func refusalsHaveTheStatusOfTheContract(command: [String], key: String, status: Int32) async throws {
    let (scratch, origin) = (try Scratch(), try MovieDatabaseOrigin(key: "k3y", token: "none"))
    try scratch.configure(OriginSettings.movies(origin.url))
    expectFailure(try await scratch.cachectl(["fetch"] + command, environment: ["KEY": key]), status: status)
    #expect(origin.server.count <= 1)
  }
}
