import Foundation
import Testing

/// The formats, and the stream of each kind of output.
@Suite struct OutputTests {
  static let commands = [
    ["fetch", "cities"], ["fetch", "movies", "--query", "star wars"], ["fetch", "poster", "/2201.png"], ["queries"],
    ["ls"], ["show", Contract.citiesKey], ["rm", Contract.citiesKey, "--dry-run"], ["stats"], ["verify"], ["compact"],
    ["doctor"],
    ["backends", "list"],
    ["backends", "show", "lmdb"], ["config", "show"], ["config", "show", "--origin"], ["config", "path"],
    ["config", "validate"],
  ]

  /// A store with something for every command to show.
  private func store() async throws -> Scratch {
    let scratch = try Scratch()
    expectSuccess(try await scratch.cachectl("fetch", "cities"))
    expectSuccess(try await scratch.cachectl("fetch", "movies", "--query", "heat"))
    return scratch
  }

  @Test(arguments: commands)
  func everyFormatIsWellFormed(command: [String]) async throws {
    let scratch = try await store()
    let json = try await scratch.cachectl(command + ["--output", "json"])
    expectSuccess(json)
    #expect(json.lines.count == 1)
    _ = try json.document()

    let ndjson = try await scratch.cachectl(command + ["--output", "ndjson"])
    expectSuccess(ndjson)
    let records = try ndjson.documents()

    let csv = try await scratch.cachectl(command + ["--output", "csv"])
    expectSuccess(csv)
    let rows = try #require(CSVReader.records(csv.text))
    #expect(rows.count == records.count + 1, "A header and a row for each record")
    #expect(Set(rows.map(\.count)).count == 1)
    for record in records { #expect(record.names == rows[0].sorted()) }
    for run in [json, ndjson, csv] { #expect(run.errors.isEmpty, "\(run.errors)") }
  }

  @Test func valuesAreTheSameInEveryFormat() async throws {
    let scratch = try await store()
    let command = ["fetch", "movies", "--query", "star wars", "--output"]
    let items = try await scratch.cachectl(command + ["json"]).document()["items"]?.elements ?? []
    #expect(try await scratch.cachectl(command + ["ndjson"]).documents() == items)
    let rows = try #require(CSVReader.records(try await scratch.cachectl(command + ["csv"]).text))
    let title = try #require(rows[0].firstIndex(of: "title"))
    #expect(rows.dropFirst().map { JSON.text($0[title]) } == items.map { $0["title"] })
  }

  @Test func remarksGoToTheStandardError() async throws {
    let scratch = try await store()
    let table = try await scratch.cachectl("fetch", "cities")
    #expect(table.errors.contains("Page 1 of 243") && !table.text.contains("Page 1"))
    let quiet = try await scratch.cachectl("fetch", "cities", "--quiet")
    #expect(quiet.errors.isEmpty && quiet.output == table.output)
    let verbose = try await scratch.cachectl("fetch", "cities", "--verbose", "--output", "json")
    #expect(verbose.errors.contains("sqlite"))
    _ = try verbose.document()
  }

  /// With `--output json` each line of stderr is an object with one member, whose name is its kind.
  @Test func stderrIsJSONIfTheOutputIs() async throws {
    let scratch = try await store()
    let verbose = try await scratch.cachectl("fetch", "cities", "--verbose", "--output", "json")
    expectSuccess(verbose)
    let details = try verbose.errorLines.map { try JSON(Data($0.utf8)) }
    #expect(details.contains { $0["detail"]?["topic"] == .text("store") })
    #expect(details.allSatisfy { $0.names == ["detail"] && $0["detail"]?.names == ["message", "topic"] }, "\(details)")

    let initialised = try await scratch.cachectl("config", "init", scratch.path("new.json"), "--output", "json")
    #expect(try initialised.errorLines.map { try JSON(Data($0.utf8)).names } == [["status"]])

    // The cache can keep nothing, which is a warning.
    try scratch.write(#"{"cache": {"maxBytes": "1KiB"}}"#, to: "small.json")
    let warned = try await scratch.cachectl(
      "--config", scratch.path("small.json"), "fetch", "cities", "--page", "3", "--output", "json")
    #expect(
      try warned.errorLines.map { try JSON(Data($0.utf8)) }.contains { $0["warning"]?["code"] == .text("tooLarge") })
    #expect(try warned.errorLines.allSatisfy { ["warning"].contains(try JSON(Data($0.utf8)).names.first) })

    let last = try await scratch.cachectl("show", "cities/none", "--output", "json", "--output", "table")
    #expect(last.errors.hasPrefix("cachectl: "), "the last one counts: \(last.errors)")
  }

  @Test(arguments: [([], [:]), (["--no-color"], [:]), ([], ["NO_COLOR": "1"])] as [([String], [String: String])])
  func noColoursGoToAFile(options: [String], environment: [String: String]) async throws {
    let scratch = try await store()
    for command in [["fetch", "cities"], ["stats"], ["show", Contract.citiesKey], ["show", "cities/none"]] {
      let run = try await scratch.cachectl(
        command + options, environment: environment.merging(["TERM": "xterm-256color"]) { $1 })
      #expect(!run.text.contains("\u{1B}") && !run.errors.contains("\u{1B}"))
    }
  }

  @Test(
    arguments: [([], [:], true), (["--no-color"], [:], false), ([], ["NO_COLOR": "1"], false)]
      as [([String], [String: String], Bool)])
  func coloursAreForTerminals(options: [String], environment: [String: String], hasColours: Bool) async throws {
    let scratch = try await store()
    // script(1) gives the tool a terminal.
    let command = ([Binary.path, "stats"] + options).joined(separator: " ")
    let run = try await scratch.run(
      "/usr/bin/env", ["script", "-qec", command, "/dev/null"],
      environment: environment.merging(["TERM": "xterm-256color"]) { $1 })
    expectSuccess(run)
    #expect(run.text.contains("sqlite"))
    #expect(run.text.contains("\u{1B}[") == hasColours)
  }

  @Test(arguments: [
    ["fetch", "cities"], ["fetch", "cities", "--all", "--output", "csv"], ["ls"], ["ls", "--output", "json"], ["help"],
    ["completion", "bash"], ["show", "--raw", Contract.citiesKey], ["config", "schema"], ["--version"],
    ["backends", "test", "memory", "--output", "ndjson"],
  ])
  func aFullDeviceIsAFailure(command: [String]) async throws {
    let scratch = try await store()
    let run = try await scratch.run(Binary.path, command, outputTo: "/dev/full")
    expectFailure(run, status: 74, mentioning: ["cannot be written"])
    #expect(try await scratch.cachectl("ls", "--output", "json").document()["entries"]?.elements.isEmpty == false)
  }
}
