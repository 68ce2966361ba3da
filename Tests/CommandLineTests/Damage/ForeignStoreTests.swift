import Foundation
import Testing

/// A file or directory without the mark of a store belongs to someone else: every command refuses it, and changes
/// nothing there.
@Suite struct ForeignStoreTests {
  /// The content at the path of a store. The tests of the engines try other content.
  enum Content: String, CaseIterable, Sendable {
    case text, otherDatabase, otherDatabaseWithLog, otherEnvironment, linkToFile

    /// Puts it at `path`, which is to be a folder for engines whose stores are one.
    func make(_ scratch: Scratch, _ path: String, isFolder: Bool) async throws {
      switch self {
      case .text:
        if isFolder { try scratch.makeFolder(path) }
        try scratch.write("mine\n", to: isFolder ? "\(path)/notes" : path)
      case .linkToFile:
        try scratch.write("precious", to: "precious")
        try FileManager.default.createSymbolicLink(
          atPath: scratch.path(path), withDestinationPath: scratch.path("precious"))
      case .otherEnvironment:
        try scratch.makeFolder(path)
        let dump =
          "VERSION=3\nformat=print\ndatabase=users\ntype=btree\nmapsize=1048576\nHEADER=END\n k\n v\nDATA=END\n"
        try scratch.write(dump, to: "dump")
        let arguments = ["mdb_load", "-f", scratch.path("dump"), "-s", "users", scratch.path(path)]
        expectSuccess(try await scratch.run("/usr/bin/env", arguments))
      case .otherDatabase, .otherDatabaseWithLog:
        if isFolder { try scratch.makeFolder(path) }
        let path = isFolder ? "\(path)/data.mdb" : path
        let mode = self == .otherDatabase ? "DELETE" : "WAL"
        let sql = "PRAGMA journal_mode = \(mode); CREATE TABLE photos (name TEXT); INSERT INTO photos VALUES ('a');"
        // The process was killed. So its log stays.
        let keep = ".shell cp '\(scratch.path(path))-wal' '\(scratch.path("kept"))'"
        let commands = self == .otherDatabase ? [sql] : [sql, keep]
        expectSuccess(try await scratch.run("/usr/bin/env", ["sqlite3", scratch.path(path)] + commands))
        if self == .otherDatabaseWithLog { try scratch.write(try scratch.read("kept"), to: path + "-wal") }
      }
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let engine: String
    let content: Content
    var testDescription: String { "\(engine), \(content)" }
    var isFolder: Bool { engine != "sqlite" }

    /// Every command for one content, and for the others those that open, inspect, remove and repair a store.
    var commands: [[String]] {
      content == .text
        ? ForeignStoreTests.commands
        : [["fetch", "cities"], ["doctor"], ["rm", "--all", "--yes"], ["verify", "--repair"]]
    }
  }

  static let cases = Contract.persistentEngines.flatMap { engine in
    Content.allCases.map { Case(engine: engine, content: $0) }
  }

  static let commands = [
    ["ls"], ["ls", "--sort", "size"], ["stats"], ["show", "cities/v1/x"], ["show", "--raw", "cities/v1/x"], ["queries"],
    ["verify"], ["verify", "--repair"], ["verify", "--repair", "--dry-run"], ["rm", "cities/v1/x"],
    ["rm", "--all", "--yes"], ["rm", "--all", "--dry-run"], ["rm", "--namespace", "cities", "--yes"],
    ["rm", "--soft", "--prefix", "c"], ["rm", "--state", "expired"], ["rm", "--older-than", "1s"], ["compact"],
    ["export"], ["export", "out"], ["import", "lines"], ["fetch", "cities"], ["fetch", "cities", "--all", "--quiet"],
    ["fetch", "cities", "--offline"], ["fetch", "cities", "--refresh"], ["explain", "cities"], ["doctor"],
  ]

  /// The names, contents, permissions and times of everything below the folder of the stores.
  private func snapshot(_ scratch: Scratch) throws -> [String: String] {
    var found: [String: String] = [:]
    for name in ["stores", "precious"] + scratch.names(below: "stores").map({ "stores/" + $0 }) {
      var status = stat()
      guard lstat(scratch.path(name), &status) == 0 else { continue }
      let content = status.st_mode & S_IFMT == S_IFREG ? try scratch.read(name).base64EncodedString() : ""
      let link = try? FileManager.default.destinationOfSymbolicLink(atPath: scratch.path(name))
      let time = status.st_mtim
      found[name] = "\(status.st_mode) \(status.st_ino) \(time.tv_sec).\(time.tv_nsec) \(link ?? "") \(content)"
    }
    return found
  }

  @Test(arguments: cases)
  func everyCommandRefusesItAndChangesNothing(test: Case) async throws {
    let scratch = try Scratch()
    try scratch.makeFolder("stores")
    let path = "stores/store"
    try await test.content.make(scratch, path, isFolder: test.isFolder)
    try scratch.write("", to: "work/lines")
    let before = try snapshot(scratch)
    let options = ["--backend", test.engine, "--set", "backends.\(test.engine).path=\(scratch.path(path))"]
    for command in test.commands {
      let run = try await scratch.cachectl(options + command)
      #expect(run.status == 73, "\(command): \(run.status) \(run.errors)")
      // A link is followed, and the message names its target.
      let names = [path, "precious"].map(scratch.path)
      #expect(names.contains { (run.text + run.errors).contains($0) }, "\(command): \(run.errors)")
      #expect(!(run.text + run.errors).contains("--repair"), "\(command): \(run.errors)")
      #expect(try snapshot(scratch) == before, "\(command)")
    }
    guard test.content == .text else { return }
    let other = test.engine == "lmdb" ? "plist" : "lmdb"
    for direction in [["--from", test.engine, "--to", other], ["--from", other, "--to", test.engine]] {
      if direction[1] == other {
        expectSuccess(try await scratch.cachectl("--backend", other, "fetch", "cities"))
      }
      let run = try await scratch.cachectl(options + ["migrate"] + direction)
      #expect(run.status == 73, "\(direction): \(run.status) \(run.errors)")
      #expect(try snapshot(scratch) == before, "\(direction)")
    }
  }

  /// Local stores are next to the remote one.
  @Test(arguments: Contract.persistentEngines)
  func nothingIsCreatedNextToIt(remote: String) async throws {
    let scratch = try Scratch()
    try scratch.makeFolder("stores")
    try await Content.text.make(scratch, "stores/store", isFolder: remote != "sqlite")
    let before = try snapshot(scratch)
    let options = [
      "backends.tiered.local=\(remote == "lmdb" ? "sqlite" : "lmdb")", "backends.tiered.remote=\(remote)",
      "backends.\(remote).path=\(scratch.path("stores/store"))",
    ].flatMap { ["--set", $0] }
    for command in [["ls"], ["fetch", "cities"], ["stats"], ["rm", "--all", "--yes"], ["verify", "--repair"]] {
      let run = try await scratch.cachectl(["--backend", "tiered"] + options + command)
      #expect(run.status == 73, "\(command): \(run.status) \(run.errors)")
      #expect(try snapshot(scratch) == before, "\(command)")
    }
  }

  @Test func theMessageAboutALinkNamesItsTarget() async throws {
    let scratch = try Scratch()
    try scratch.makeFolder("home")
    for (engine, name) in [("sqlite", "cache.sqlite"), ("lmdb", "lmdb"), ("plist", "plist")] {
      try FileManager.default.createSymbolicLink(
        atPath: scratch.path("home/\(name)"), withDestinationPath: "/mnt/none/\(name)")
      let run = try await scratch.cachectl("--backend", engine, "fetch", "cities")
      expectFailure(run, status: 73, mentioning: [scratch.path("home/\(name)")])
    }
    let run = try await scratch.cachectl("ls", "--output", "table")
    #expect(run.errors.contains("is a link to /mnt/none/cache.sqlite, which does not exist"), "\(run.errors)")
  }

  /// Nothing is lost by making a store there.
  @Test(arguments: Contract.persistentEngines, [true, false])
  func emptyFilesAndFoldersAreEmptyStores(engine: String, isLinked: Bool) async throws {
    let scratch = try Scratch()
    if engine == "sqlite" { try scratch.write("", to: "empty") } else { try scratch.makeFolder("empty") }
    try FileManager.default.createSymbolicLink(
      atPath: scratch.path("link"), withDestinationPath: scratch.path("empty"))
    let path = scratch.path(isLinked ? "link" : "empty")
    let options = ["--backend", engine, "--set", "backends.\(engine).path=\(path)"]
    #expect(try await scratch.cachectl(options + ["ls", "--output", "json"]).document()["entries"] == .list([]))
    expectSuccess(try await scratch.cachectl(options + ["fetch", "cities"]))
    #expect(
      try await scratch.cachectl(options + ["ls", "--output", "json"]).document()["entries"]?.elements.count == 1)
    expectSuccess(try await scratch.cachectl(options + ["rm", "--all", "--yes"]))
    expectSuccess(try await scratch.cachectl(options + ["fetch", "cities"]))
    #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: scratch.path("link"))) != nil)
  }

  /// A mark covers the files that the engine names and writes itself.
  @Test(arguments: ["lmdb", "plist"])
  func aFileOfSomeoneElseInAStoreIsLeftAlone(engine: String) async throws {
    let scratch = try Scratch()
    let options = ["--backend", engine]
    expectSuccess(try await scratch.cachectl(options + ["fetch", "cities"]))
    let foreign = ["package.json": #"{"name": "app"}"#, "tsconfig.json": "", "notes.txt": "mine", "x.json.new": "mine"]
    for (name, text) in foreign { try scratch.write(text, to: "home/\(engine)/\(name)") }
    for command in Self.commands
    where !["import", "show", "explain"].contains(command[0]) && command != ["rm", "cities/v1/x"] {
      let run = try await scratch.cachectl(options + command)
      #expect([0, 66].contains(run.status), "\(command): \(run.errors)")
    }
    for (name, text) in foreign { #expect(try scratch.read("home/\(engine)/\(name)") == Data(text.utf8), "\(name)") }
  }

  /// Either mark is enough, and damage to the other one is damage.
  @Test(arguments: Contract.persistentEngines)
  func eitherMarkMakesItAStore(engine: String) async throws {
    let scratch = try Scratch()
    let options = ["--backend", engine]
    expectSuccess(try await scratch.cachectl(options + ["fetch", "cities"]))
    let mark = engine == "sqlite" ? "home/cache.sqlite.uses" : "home/\(engine)/store.uses"
    #expect(scratch.exists(mark))
    try FileManager.default.removeItem(atPath: scratch.path(mark))
    for command in [["ls"], ["verify"], ["fetch", "cities", "--offline"], ["verify", "--repair"]] {
      expectSuccess(try await scratch.cachectl(options + command))
    }
    expectSuccess(try await scratch.cachectl(options + ["rm", "--all", "--yes"]))
  }

  /// No engine keeps a store without a path if the user expects a file of that name.
  @Test(arguments: Contract.persistentEngines, ["", ":memory:", "file:x", "file::memory:?cache=shared"])
  func aNameThatIsNotAPathIsRefused(engine: String, name: String) async throws {
    let scratch = try Scratch()
    for command in [["ls"], ["fetch", "cities"], ["config", "show"]] {
      let run = try await scratch.cachectl(["--backend", engine, "--set", "backends.\(engine).path=\(name)"] + command)
      expectFailure(run, status: 64, mentioning: ["backends.\(engine).path"])
    }
    #expect(!scratch.exists("home"))
    // An empty variable is one that is not set.
    let variable = ["CACHECTL_\(engine.uppercased())_PATH": name]
    let run = try await scratch.cachectl(["--backend", engine, "ls"], environment: variable)
    if name.isEmpty { expectSuccess(run) } else { expectFailure(run, status: 78) }
  }

  /// The store is there, and belongs to someone whose files may not be read.
  @Test(arguments: Contract.persistentEngines)
  func aStoreWithoutPermissionIsRefusedAsSuch(engine: String) async throws {
    let user = try await OtherUser()
    expectSuccess(try await user.scratch.cachectl("--backend", engine, "fetch", "cities"))
    try user.giveAway()
    let store = user.scratch.path(engine == "sqlite" ? "home/cache.sqlite" : "home/\(engine)")
    for closed in [store, user.scratch.home] {
      try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: closed)
      for command in [["ls"], ["stats"], ["rm", "--all", "--yes"], ["fetch", "cities", "--offline"]] {
        let run = try await user.cachectl(["--backend", engine] + command)
        expectFailure(run, status: 77, mentioning: ["ermission"])
      }
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: closed)
    }
  }
}
