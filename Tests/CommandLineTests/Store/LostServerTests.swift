import Foundation
import Testing

/// An engine spreads its entries over two servers, and one of them is lost.
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

  @Test func entriesOfTheOtherServerAreServed() async throws {
    let (scratch, path) = try await filledStore()
    for command in [["fetch", "cities", "--offline"], ["show", Contract.citiesKey]] {
      expectSuccess(try await scratch.cachectl(["--backend", path] + command, environment: ["FAULT": "lost"]))
    }
  }

  @Test func contentThatMustBeCompleteFails() async throws {
    let (scratch, path) = try await filledStore()
    for command in [
      ["ls"], ["ls", "--sort", "size"], ["stats"], ["export"], ["verify"], ["compact"],
      ["rm", "--namespace", "cities", "--yes"], ["rm", "--all", "--yes"],
      ["rm", "--all", "--dry-run"], ["migrate", "--from", path, "--to", "sqlite"],
    ] {
      let run = try await scratch.cachectl(
        (command[0] == "migrate" ? [] : ["--backend", path]) + command, environment: ["FAULT": "lost"])
      expectFailure(run, status: 69, mentioning: [Self.missing])
      #expect(run.text.isEmpty, "\(run.text)")
    }
    let listing = try await scratch.cachectl("--backend", path, "ls")
    expectSuccess(listing)
    #expect(listing.text.contains("cities/") && listing.text.contains("movies/"), "nothing was removed")
  }
}
