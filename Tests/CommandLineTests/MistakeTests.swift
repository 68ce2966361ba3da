import Foundation
import Testing

/// Wrong input: the status of the contract, and one line that helps.
@Suite struct MistakeTests {
  private let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  private func expectOneLine(_ run: Run, _ status: Int32, _ parts: [String]) {
    #expect(run.status == status, "\(run.errors)")
    #expect(run.output == "")
    #expect(run.errors.hasPrefix("cachectl: "))
    #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    for part in parts { #expect(run.errors.contains(part), "\(run.errors)") }
  }

  @Test(arguments: [
    (["fetch", "citis"], ["citis", "cities", "help"]), (["ftch"], ["ftch", "fetch"]),
    (["fetch", "cities", "--ordr", "name"], ["--ordr", "--order"]),
    (["fetch", "cities", "--order", "size"], ["size", "revenue"]), (["fetch", "cities", "--order"], ["--order"]),
    (["fetch", "cities", "--page", "x"], ["x"]), (["fetch", "cities", "--page", "-1"], ["page"]),
    (["fetch", "movies"], ["query"]), (["fetch", "movies", "--query", "  "], ["query"]),
    (["--backend", "sqlit", "ls"], ["sqlit", "sqlite"]), (["fetch", "cities", "--max-age", "soon"], ["soon", "90s"]),
    (["ls", "--limit", "0"], ["limit"]), (["ls", "--", "--limit"], ["--limit"]), (["completion", "tcsh"], ["bash"]),
  ])
  func commandLines(_ arguments: [String], _ parts: [String]) async throws {
    expectOneLine(try await sandbox.run(arguments), 64, parts)
    let run = try await sandbox.run(["--output", "json"] + arguments)
    let line = try #require(run.errors.split(separator: "\n").first)
    let document = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: [String: Any]])
    #expect(document["error"]?.keys.sorted() == ["code", "hint", "message"])
  }

  @Test(arguments: [
    (#"{"backend": "sqlite""#, [":1:21"]), ("{\n  \"bakend\": \"sqlite\"\n}", [":2:3", "bakend", "backend"]),
    (#"{"backend": "sqlit"}"#, ["sqlit", "sqlite"]), (#"{"backend": 7}"#, [":1:13", "backend"]),
    (#"{"cache": {"timeToLive": "soon"}}"#, ["cache.timeToLive", "soon"]),
    (#"{"cache": {"maxEntries": 0}}"#, ["cache.maxEntries"]),
    (#"{"queries": {"maxCount": 100000}}"#, ["queries.maxCount"]),
    (#"{"backends": {"lmdb": {"mapsize": "1MiB"}}}"#, ["mapsize", "mapSize"]),
  ])
  func configurations(_ text: String, _ parts: [String]) async throws {
    let path = try sandbox.write(text, to: "cachectl.json")
    expectOneLine(try await sandbox.run("fetch", "cities"), 78, parts + [path])
    let validation = try await sandbox.run("config", "validate", path, "--output", "json")
    #expect(validation.status == 78)
    #expect(try validation.json()["valid"] as? Bool == false)
  }

  @Test func configurationFromOutside() async throws {
    expectOneLine(try await sandbox.run("ls", environment: ["CACHECTL_BACKEND": "mysql"]), 78, ["CACHECTL_BACKEND"])
    expectOneLine(
      try await sandbox.run("ls", environment: ["CACHECTL_LMDB_MAPSIZ": "1MiB"]), 78, ["CACHECTL_LMDB_MAP_SIZE"])
    expectOneLine(try await sandbox.run("ls", "--config", "none.json"), 64, ["none.json"])
    let run = try await sandbox.run("config", "show", "--origin", environment: ["CACHECTL_BACKEND": "lmdb"])
    #expect(run.output.contains("CACHECTL_BACKEND"))
  }

  @Test func theExampleIsWrittenAndValid() async throws {
    #expect(try await sandbox.run("config", "init", "new.json").status == 0)
    #expect(try await sandbox.run("config", "validate", "new.json").status == 0)
    expectOneLine(try await sandbox.run("config", "init", "new.json"), 73, ["new.json"])
    let shown = try await sandbox.run("config", "show", "--output", "json", "--config", "new.json")
    try sandbox.write(shown.output, to: "shown.json")
    #expect(try await sandbox.run("config", "validate", "shown.json").status == 0)
    #expect(try await sandbox.run("config", "path", "--config", "new.json").output.contains("new.json"))
    let schema = try await sandbox.run("config", "schema").json()
    #expect(schema["$schema"] as? String == "https://json-schema.org/draft/2020-12/schema")
  }

  @Test(arguments: [
    ("sqlite", "cache.sqlite", true), ("lmdb", "lmdb", false), ("plist", "plist", false),
  ])
  func aStoreThatCannotBeMade(_ engine: String, _ path: String, _ isFolder: Bool) async throws {
    try FileManager.default.createDirectory(atPath: sandbox.home, withIntermediateDirectories: true)
    if isFolder {
      try FileManager.default.createDirectory(atPath: sandbox.home + "/" + path, withIntermediateDirectories: true)
    } else {
      try sandbox.write("x", to: "home/" + path)
    }
    expectOneLine(try await sandbox.run("fetch", "cities", "--backend", engine), 73, [path])
    try sandbox.write("x", to: "file")
    let below = sandbox.folder + "/file/home"
    expectOneLine(
      try await sandbox.run("fetch", "cities", "--backend", engine, "--home", below), 73, [sandbox.folder + "/file"])
  }

  @Test func aFullDeviceIsAFailureOfOutput() async throws {
    let run = try await sandbox.run("fetch", "cities", output: "/dev/full")
    expectOneLine(run, 74, ["output"])
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func signalsCloseInOrder(_ signal: Int32, _ status: Int32) async throws {
    let (process, _) = try sandbox.process(["backends", "test", "sqlite"])
    let folder = sandbox.folder
    try process.run()
    let deadline = ContinuousClock.now + .seconds(60)
    func scratch() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("cachectl.") }
    }
    while try scratch().isEmpty, ContinuousClock.now < deadline { await Task.yield() }
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == status)
    #expect(try scratch().isEmpty)
  }
}
