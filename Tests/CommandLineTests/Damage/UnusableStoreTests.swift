import Foundation
import Testing

/// Stores that cannot be created, or not be written to.
@Suite struct UnusableStoreTests {
  /// Commands that create a store, and commands that only look.
  static let fetches = [["fetch", "cities"], ["fetch", "cities", "--offline"]]
  static let looks = [["ls"], ["stats"], ["queries"]]

  @Test(arguments: [("sqlite", "cache.sqlite", true), ("lmdb", "lmdb", false), ("plist", "plist", false)])
  func aForeignFileInThePlaceOfTheStoreIsRefused(engine: String, name: String, isFolder: Bool) async throws {
    let scratch = try Scratch()
    try scratch.makeFolder("home")
    if isFolder { try scratch.makeFolder("home/\(name)") } else { try scratch.write("mine", to: "home/\(name)") }
    for command in Self.fetches + Self.looks {
      let run = try await scratch.cachectl(["--backend", engine] + command)
      expectFailure(run, status: 73, mentioning: [scratch.path("home/\(name)")])
    }
    if !isFolder { #expect(try scratch.read("home/\(name)") == Data("mine".utf8)) }
  }

  @Test(arguments: Contract.persistentEngines)
  func theHomeCannotBeCreated(engine: String) async throws {
    let scratch = try Scratch()
    try scratch.write("a file", to: "file")
    for command in Self.fetches {
      let run = try await scratch.cachectl(["--backend", engine, "--home", scratch.path("file/home")] + command)
      expectFailure(run, status: 73, mentioning: [scratch.path("file")])
    }
    for command in Self.looks {
      let run = try await scratch.cachectl(["--backend", engine, "--home", scratch.path("file/home")] + command)
      #expect(run.status == 0 && run.errors.contains("No store yet at \(scratch.path("file"))"), "\(run.errors)")
    }
  }

  @Test func memoryNeedsNoHome() async throws {
    let scratch = try Scratch()
    try scratch.write("a file", to: "file")
    let run = try await scratch.cachectl(
      "--backend", "memory", "--home", scratch.path("file"), "fetch", "cities", "--output", "json")
    expectSuccess(run)
    #expect(try run.document()["source"] == "origin")
  }

  @Test(arguments: Contract.persistentEngines)
  func nothingCanBeStoredInAHomeThatIsReadOnly(engine: String) async throws {
    let user = try await OtherUser()
    try user.scratch.makeFolder("home")
    try user.giveAway()
    try user.scratch.makeReadOnly("home")
    for command in Self.fetches {
      expectFailure(try await user.cachectl(["--backend", engine] + command), status: 73, mentioning: ["ermission"])
    }
    for command in Self.looks {
      let run = try await user.cachectl(["--backend", engine] + command)
      #expect(run.status == 0 && run.errors.contains("No store yet at"), "\(run.errors)")
    }
  }

  @Test(arguments: Contract.persistentEngines)
  func aStoreThatIsReadOnlyIsStillRead(engine: String) async throws {
    let user = try await OtherUser()
    let command = ["--backend", engine, "fetch", "cities", "--output", "json"]
    let stored = try await user.scratch.cachectl(command).document()
    try user.giveAway()
    try user.scratch.makeReadOnly("home")
    for options in [[], ["--offline"]] {
      let run = try await user.cachectl(command + options)
      expectSuccess(run)
      #expect(try run.document()["source"] == "cache" && run.document()["items"] == stored["items"])
      #expect(run.errors.isEmpty, "\(run.errors)")
    }
    let entries = try await user.cachectl(["--backend", engine, "ls", "--output", "json"])
    #expect(try entries.document()["entries"]?.elements.count == 1)
    let new = try await user.cachectl(command + ["--page", "1"])
    expectSuccess(new)
    #expect(try new.document()["source"] == "origin")
    #expect(new.errorLines.count == 1 && new.errors.hasPrefix("{\"warning\":"), "\(new.errors)")
    let removal = try await user.cachectl(["--backend", engine, "rm", "--all", "--yes"])
    expectFailure(removal, status: 77, mentioning: ["ermission"])
  }
}

/// A folder that belongs to a user without privileges, as whom the tool then runs: permissions do not bind root.
struct OtherUser {
  let scratch: Scratch
  private let binary: String

  init() async throws {
    scratch = try Scratch()
    binary = scratch.path("cachectl")
    // The folder of the build may be closed to others. A separate process makes the copy: were the copy open in this
    // one, a program that another test starts meanwhile would inherit the descriptor, and the copy would be busy.
    expectSuccess(try await scratch.run("cp", [Binary.path, binary]))
  }

  private var isRoot: Bool { geteuid() == 0 }

  /// Makes everything in the folder belong to the other user.
  func giveAway() throws {
    guard isRoot else { return }
    for name in [""] + scratch.names(below: "") {
      try FileManager.default.setAttributes(
        [.ownerAccountID: 65_534, .groupOwnerAccountID: 65_534], ofItemAtPath: scratch.path(name))
    }
  }

  func cachectl(_ arguments: [String]) async throws -> Run {
    guard isRoot else { return try await scratch.run(binary, arguments) }
    let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", binary]
    return try await scratch.run("/usr/bin/env", user + arguments)
  }
}
