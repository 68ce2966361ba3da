import Foundation
import Testing

/// An engine spreads its entries over two servers, and the one with the movies is lost.
@Suite struct LostServerTests {
  private static let missing = "server a: 1 of 2 parts cannot be reached (b)"

  /// A store with cities and movies.
  private func filledStore() async throws -> (scratch: Scratch, path: String) {
    let scratch = try Scratch()
    let path = try scratch.install(EngineLibraries.faulty, as: "faulty")
    for resource in [["cities"], ["movies", "--query", "heat"]] {
      expectSuccess(try await scratch.cachectl(["--backend", path, "fetch"] + resource))
    }
    return (scratch, path)
  }

  @Test(arguments: [["ls"], ["ls", "--sort", "size"], ["ls", "--limit", "1"], ["stats"]])
  func theRestIsShownAndWhatIsMissingIsSaid(command: [String]) async throws {
    let (scratch, path) = try await filledStore()
    let run = try await scratch.cachectl(["--backend", path] + command, environment: ["FAULT": "lost"])
    #expect(run.status == 69, "\(run.errors)")
    #expect(run.text.contains("cities") && !run.text.contains("movies"), "\(run.text)")
    let rest = command[0] == "ls" ? "left out" : "not counted"
    #expect(run.errorLines.last?.hasPrefix("cachectl: \(Self.missing): the entries there are \(rest): ") == true)
    let document = try await scratch.cachectl(
      ["--backend", path, "--output", "json"] + command, environment: ["FAULT": "lost"])
    #expect(document.status == 69 && document.errors.contains(#""code":"unreachable""#), "\(document.errors)")
    #expect(try document.document()["entries"] != nil)
  }

  @Test func whatIsOnTheOtherServerIsServed() async throws {
    let (scratch, path) = try await filledStore()
    for command in [["fetch", "cities", "--offline"], ["show", Contract.citiesKey]] {
      expectSuccess(try await scratch.cachectl(["--backend", path] + command, environment: ["FAULT": "lost"]))
    }
  }

  @Test func whatMustBeCompleteFails() async throws {
    let (scratch, path) = try await filledStore()
    for command in [
      ["export"], ["verify"], ["compact"], ["rm", "--namespace", "cities", "--yes"], ["rm", "--all", "--yes"],
      ["rm", "--all", "--dry-run"], ["migrate", "--from", path, "--to", "sqlite"], ["simulate"],
    ] {
      let run = try await scratch.cachectl(
        (command[0] == "migrate" ? [] : ["--backend", path]) + command, environment: ["FAULT": "lost"])
      expectFailure(run, status: 69, mentioning: [Self.missing])
    }
    let listing = try await scratch.cachectl("--backend", path, "ls")
    expectSuccess(listing)
    #expect(listing.text.contains("cities/") && listing.text.contains("movies/"), "nothing was removed")
  }
}
