import Foundation
import Testing

/// Engines that are libraries, used as any other.
@Suite struct LibraryTests {
  private func scratch() throws -> (scratch: Scratch, path: String) {
    let scratch = try Scratch()
    return (scratch, try scratch.install(EngineLibraries.folder, as: "folder"))
  }

  @Test func aLibraryIsListedWithoutLoadingIt() async throws {
    let (scratch, path) = try scratch()
    let faulty = try scratch.install(EngineLibraries.faulty, as: "faulty")
    let environment = scratch.searching("plugins", fault: "load")
    let run = try await scratch.cachectl("backends", "--output", "json", environment: environment)
    expectSuccess(run)
    let rows = try run.document().elements.filter { $0["builtIn"] == false }
    #expect(rows.map { $0["path"] } == [.text(faulty), .text(path)])
    for row in rows {
      #expect(row["version"] == .null && row["capabilities"] == .list([]))
      #expect(row["summary"]?.text?.hasPrefix("not loaded") == true)
    }
    let table = try await scratch.cachectl("backends", environment: environment).lines
    let row = table.first { $0.hasPrefix("   folder  -        not loaded") }
    #expect(row?.contains("  \(path)  -") == true, "\(table)")
  }

  @Test func theConfiguredLibraryIsListedAsLoaded() async throws {
    let (scratch, path) = try scratch()
    let run = try await scratch.cachectl(
      "backends", "--backend", "folder", "--output", "json", environment: scratch.searching("plugins"))
    let row = try #require(try run.document().elements.first { $0["name"] == "folder" })
    #expect(row["version"] == "1" && row["path"] == .text(path) && row["builtIn"] == false)
    #expect(row["capabilities"] == .list(["atomic-batches", "bounded", "ordered", "persistent", "shared"]))
  }

  @Test func aLibraryIsShown() async throws {
    let (scratch, path) = try scratch()
    let byName = try await scratch.cachectl(
      "backends", "show", "folder", "--output", "json", environment: scratch.searching("plugins"))
    let byPath = try await scratch.cachectl("backends", "show", "../plugins/libcachectl-folder.so", "--output", "json")
    for run in [byName, byPath] {
      expectSuccess(run)
      let document = try run.document()
      #expect(document["name"] == "folder" && document["builtIn"] == false)
      #expect(document["path"]?.text?.hasSuffix("/plugins/libcachectl-folder.so") == true)
      #expect(document["options"]?.elements.compactMap { $0["name"]?.text } == ["path", "durability"])
    }
    #expect(try byName.document()["path"] == .text(path))
  }

  /// The engine can neither remove its store nor move it aside. A store that was moved aside before stays.
  @Test(arguments: [["rm", "--all", "--yes"], ["verify", "--repair"]])
  func aDamagedStoreCanBeReplaced(command: [String]) async throws {
    let (scratch, path) = try scratch()
    let options = ["--backend", path, "--set", "backends.folder.path=\(scratch.path("home/my store"))"]
    expectSuccess(try await scratch.cachectl(options + ["fetch", "cities"]))
    for size in [5_000, 6_000] {
      try scratch.write(Data(repeating: 1, count: size), to: "home/my store/entries")
      let listing = try await scratch.cachectl(options + ["ls"])
      #expect(listing.errors.contains(" --backend \(path) verify --repair"), "\(listing.errors)")
      let run = try await scratch.cachectl(options + command)
      let start = try #require(run.errors.range(of: "move it aside with: "), "\(run.errors)")
      #expect(run.status == 65)
      expectSuccess(try await scratch.shell(String(run.errors[start.upperBound...].prefix { $0 != "\n" })))
      expectSuccess(try await scratch.cachectl(options + ["fetch", "cities"]))
      expectSuccess(try await scratch.cachectl(options + ["verify"]))
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: scratch.home)
    let moved = names.filter { $0.hasPrefix("my store.damaged-") }.map { "home/\($0)/entries" }
    #expect(Set(try moved.map { try scratch.read($0).count }) == [5_000, 6_000], "\(names)")
  }

  @Test func aFetchIsServedFromALibrary() async throws {
    let (scratch, path) = try scratch()
    try scratch.configure(text: #"{"backend": "\#(path)"}"#)
    for source in ["origin", "cache"] {
      let document = try await scratch.cachectl("fetch", "cities", "--output", "json").document()
      #expect(document["backend"] == "folder" && document["source"] == .text(source))
    }
    #expect(!scratch.names(below: "home/folder").isEmpty)
    let statistics = try await scratch.cachectl("stats", "--output", "json").document()
    #expect(statistics["backend"] == "folder" && statistics["entries"] == 1 && statistics["hits"] == 1)
    for command in [["verify"], ["compact"], ["ls"], ["doctor"], ["explain", "cities"]] {
      expectSuccess(try await scratch.cachectl(command))
    }
  }

  @Test func everyEntryIsMigratedThereAndBack() async throws {
    let (scratch, path) = try scratch()
    for command in [["cities"], ["cities", "--page", "1"], ["movies", "--query", "heat"]] {
      expectSuccess(try await scratch.cachectl(["fetch"] + command))
    }
    let before = try await scratch.cachectl("export", "--quiet")
    let away = try await scratch.cachectl("migrate", "--from", "sqlite", "--to", path, "--output", "json")
    expectSuccess(away)
    #expect(try away.document()["to"] == "folder")
    try FileManager.default.removeItem(atPath: scratch.path("home/cache.sqlite"))
    let environment = scratch.searching("plugins")
    expectSuccess(
      try await scratch.cachectl("migrate", "--from", "folder", "--to", "sqlite", environment: environment))
    #expect(try await scratch.cachectl("export", "--quiet").output == before.output)
    let same = try await scratch.cachectl("migrate", "--from", "folder", "--to", path, environment: environment)
    expectFailure(same, status: 64, mentioning: ["same backend, folder"])
  }

  @Test func theSearchPathIsConfigured() async throws {
    let scratch = try Scratch()
    let path = try scratch.install(EngineLibraries.folder, in: "home/engines", as: "folder")
    let text = #"{"backend": "folder", "plugins": {"searchPath": ["engines"]}}"#
    try scratch.configure(text: text)
    expectSuccess(try await scratch.cachectl("ls"))
    let found = try await scratch.cachectl("backends", "show", "folder", "--output", "json").document()
    #expect(found["path"] == .text(path), "Relative to the home")
  }

  @Test func theOptionsOfALibraryAreConfigured() async throws {
    let (scratch, path) = try scratch()
    let text = #"{"backend": "\#(path)", "backends": {"folder": {"path": "elsewhere"}}}"#
    try scratch.configure(text: text)
    expectSuccess(try await scratch.cachectl("fetch", "cities"))
    #expect(scratch.exists("home/elsewhere"))
    expectSuccess(try await scratch.cachectl("fetch", "cities", environment: ["CACHECTL_FOLDER_PATH": "there"]))
    #expect(scratch.exists("home/there"))
    let shown = try await scratch.cachectl("config", "show", "--output", "json")
    #expect(try shown.document()["backends"]?["folder"]?["path"] == .text(scratch.path("home/elsewhere")))
    try scratch.write(shown.output, to: "shown.json")
    expectSuccess(try await scratch.cachectl("config", "validate", scratch.path("shown.json")))
    try scratch.configure(text: text.replacing("\"path\"", with: "\"pth\""))
    expectFailure(
      try await scratch.cachectl("ls"), status: 78, mentioning: ["backends.folder.pth", "'backends.folder.path'"])
  }

  @Test func completionKnowsLibraries() async throws {
    let (scratch, _) = try scratch()
    let run = try await scratch.cachectl(
      "__complete", "bash", "--backend", "fol", environment: scratch.searching("plugins"))
    #expect(run.lines == ["words", "folder"], "\(run.text)")
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)], ["none", "hang"])
  func aSignalEndsATestInOrder(signal: (number: Int32, status: Int32), fault: String) async throws {
    let scratch = try Scratch()
    let path = try scratch.install(EngineLibraries.faulty, as: "faulty")
    let program = try RunningProgram(
      Binary.path, ["backends", "test", path], in: scratch, environment: ["FAULT": fault])
    // The other process has made its own directory in the directory of the first.
    await program.signal(signal.number, when: { scratch.names(below: "temporary").count > 2 })
    let run = try await program.end()
    #expect(run.status == signal.status, "\(run.errors)")
    #expect(run.output.isEmpty)
    #expect(scratch.names(below: "temporary").isEmpty, "The scratch stores are removed")
  }
}
