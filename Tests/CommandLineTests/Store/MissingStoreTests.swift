import Testing

/// Commands on a store that does not exist, such as after a misspelled `--home`.
@Suite struct MissingStoreTests {
  private static let looking: [[String]] = [
    ["ls"], ["ls", "http://a.example/"], ["stats"], ["verify"], ["verify", "--repair"], ["export"], ["queries"],
    ["compact"],
    ["explain", "cities"], ["explain", "http://a.example/"], ["rm", "--all", "--yes"], ["rm", "--all", "--dry-run"],
    ["import", "/dev/null", "--dry-run"],
  ]

  @Test(arguments: Contract.inTurn(looking))
  func commandsThatOnlyReadCreateNoStore(engine: String, command: [String]) async throws {
    let scratch = try Scratch()
    let run = try await scratch.cachectl(["--backend", engine] + command)
    expectSuccess(run)
    #expect(run.errors.contains("No store yet at \(scratch.home)/"), "\(run.errors)")
    #expect(!scratch.exists("home"), "\(scratch.names(below: "home"))")
    let quiet = try await scratch.cachectl(["--backend", engine, "--quiet"] + command)
    #expect(quiet.status == 0 && quiet.errors.isEmpty, "\(quiet.errors)")
  }

  /// As in an empty store.
  @Test(arguments: Contract.inTurn([["--namespace", "cities"], ["--soft", "--state", "fresh"], ["http://a/"]]))
  func aRemovalFindsNothing(engine: String, options: [String]) async throws {
    let scratch = try Scratch()
    let run = try await scratch.cachectl(["--backend", engine, "rm"] + options)
    #expect(run.status == 66 && run.errors.contains("No store yet at \(scratch.home)/"), "\(run.errors)")
    #expect(!scratch.exists("home"))
  }

  @Test(arguments: Contract.persistentEngines)
  func documentsAreEmpty(engine: String) async throws {
    let scratch = try Scratch()
    let options = ["--backend", engine, "--output", "json"]
    let listing = try await scratch.cachectl(options + ["ls"])
    #expect(listing.text == #"{"entries":[],"cursor":null}"# + "\n")
    #expect(listing.errors.hasPrefix(#"{"status":{"message":"No store yet at "#), "\(listing.errors)")
    #expect(try await scratch.cachectl(options + ["stats"]).document()["entries"] == 0)
    #expect(try await scratch.cachectl(options + ["verify"]).document()["entriesChecked"] == 0)
    #expect(try await scratch.cachectl(options + ["explain", "cities"]).document()["action"] == "fetch")
    let shown = try await scratch.cachectl(options + ["show", Contract.citiesKey])
    expectFailure(shown, status: 66, mentioning: [Contract.citiesKey, "no store yet at"])
    let removal = try await scratch.cachectl(options + ["rm", Contract.citiesKey])
    #expect(removal.status == 66 && removal.errors.contains(Contract.citiesKey), "\(removal.errors)")
    #expect(!scratch.exists("home"))
  }

  @Test(arguments: Contract.inTurn([["import", "/dev/null"], ["fetch", "cities"]]))
  func commandsThatFillAStoreCreateIt(engine: String, command: [String]) async throws {
    let scratch = try Scratch()
    let run = try await scratch.cachectl(["--backend", engine] + command)
    expectSuccess(run)
    #expect(!run.errors.contains("No store yet") && !scratch.names(below: "home").isEmpty, "\(run.errors)")
  }
}
