import Foundation
import Testing

/// Stores that were damaged or locked away from outside.
@Suite struct DamageTests {
  private let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  /// Ways to damage a file of `count` bytes.
  enum Damage: Sendable, CustomTestStringConvertible {
    case truncated(Double)
    case flipped(Double)
    case emptied
    case replaced

    static let all: [Damage] =
      [.emptied, .replaced, .truncated(0.5), .truncated(0.99)]
      + [0.0, 0.001, 0.1, 0.25, 0.3, 0.42, 0.5, 0.61, 0.75, 0.9, 0.97, 1.0].map { .flipped($0) }

    var testDescription: String { "\(self)" }

    func apply(to bytes: inout Data) {
      switch self {
      case .emptied: bytes = Data()
      case .replaced: bytes = Data("this is no store\n".utf8)
      case .truncated(let share): bytes = bytes.prefix(Int(Double(bytes.count) * share))
      case .flipped(let share): bytes[min(Int(Double(bytes.count) * share), bytes.count - 1)] ^= 0x10
      }
    }
  }

  @Test(arguments: Engines.persistent, Damage.all)
  func aDamagedStoreKeepsNothingFromTheUser(_ engine: String, _ damage: Damage) async throws {
    let words = ["--backend", engine, "--output", "json"]
    let reference = try await sandbox.run(words + ["fetch", "cities"]).json()
    _ = try await sandbox.run(words + ["fetch", "movies", "--query", "alien"])
    let path = sandbox.home + "/" + (try #require(Engines.dataFiles[engine]))
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    damage.apply(to: &bytes)
    try bytes.write(to: URL(fileURLWithPath: path))

    for command in [["ls"], ["stats"], ["fetch", "cities", "--offline"]] {
      let run = try await sandbox.run(words + command)
      #expect([0, 65, 66].contains(run.status), "\(command): \(run.status) \(run.errors)")
      if command[0] == "fetch", run.status == 0 { #expect(try items(run.json()) == items(reference)) }
      if run.status == 66, !isLegitimate(engine, damage) { Issue.record("\(command): damage was read as a miss") }
    }
    if engine == "plist" {
      #expect(try await sandbox.run(words + ["fetch", "movies", "--query", "alien", "--offline"]).status == 0)
    }
    if !isLegitimate(engine, damage) {
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes, "reading changed the store")
    }
    let fetch = try await sandbox.run(words + ["fetch", "cities"])
    #expect(fetch.status == 0, "\(fetch.errors)")
    #expect(try items(fetch.json()) == items(reference))
    #expect(FileManager.default.fileExists(atPath: path))
  }

  /// What cannot be told from a whole store that lacks the entry: an empty data file is what LMDB leaves behind when it
  /// dies while it makes a store, and SQLite has no checksum that would show a change in the key of an index.
  private func isLegitimate(_ engine: String, _ damage: Damage) -> Bool {
    switch (engine, damage) {
    case ("lmdb", .emptied), ("sqlite", .flipped): true
    default: false
    }
  }

  @Test(arguments: Engines.persistent)
  func aStoreThatIsNoneIsRefusedWithOneLine(_ engine: String) async throws {
    _ = try await sandbox.run("--backend", engine, "fetch", "cities")
    let name = "home/" + (try #require(Engines.dataFiles[engine]))
    try sandbox.write("this is no store\n", to: name)
    let listing = try await sandbox.run("--backend", engine, "ls")
    #expect(listing.status == 65)
    #expect(listing.errors.split(separator: "\n").count == 1)
    let fetch = try await sandbox.run("--backend", engine, "fetch", "cities", "--limit", "1")
    #expect(fetch.status == 0)
    #expect(fetch.output.contains("WASHINGTON"))
    #expect(fetch.errors.contains("cachectl: warning: "))
    #expect(try await sandbox.run("--backend", engine, "fetch", "cities", "--offline").status == 65)
    #expect(try String(contentsOfFile: sandbox.folder + "/" + name, encoding: .utf8) == "this is no store\n")
  }

  /// As root, permissions stop nobody: the program is run as somebody else.
  private func asNobody(_ arguments: [String]) async throws -> Run {
    guard getuid() == 0 else { return try await sandbox.run(arguments) }
    let user = ["--reuid=65534", "--regid=65534", "--clear-groups", Sandbox.program]
    return try await sandbox.run(["setpriv"] + user + arguments, program: "/usr/bin/env")
  }

  @Test(arguments: Engines.persistent)
  func aHomeThatMayNotBeWrittenCannotHoldANewStore(_ engine: String) async throws {
    try FileManager.default.createDirectory(atPath: sandbox.home, withIntermediateDirectories: true)
    try setModes(folder: 0o555, file: 0o444)
    let run = try await asNobody(["--backend", engine, "fetch", "cities"])
    #expect(run.status == 73, "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1)
  }

  @Test(arguments: Engines.persistent)
  func aStoreThatMayOnlyBeReadStillAnswers(_ engine: String) async throws {
    _ = try await sandbox.run("--backend", engine, "fetch", "cities")
    try setModes(folder: 0o555, file: 0o444)
    let offline = try await asNobody(["--backend", engine, "fetch", "cities", "--offline", "--output", "json"])
    #expect(offline.status == 0, "\(offline.errors)")
    let fresh = try await asNobody(["--backend", engine, "fetch", "cities", "--page", "1", "--output", "json"])
    #expect(fresh.status == 0, "\(fresh.errors)")
    #expect(fresh.errors.contains("warning"))
    try setModes(folder: 0o755, file: 0o644)
    #expect(try await sandbox.run("--backend", engine, "ls", "--output", "ndjson").lines().count == 1)
  }

  /// Sets the modes of the home and all in it, and lets others pass to it.
  private func setModes(folder: Int, file: Int) throws {
    let files = FileManager.default
    try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: sandbox.folder)
    let below = files.enumerator(atPath: sandbox.home)?.allObjects.compactMap { $0 as? String } ?? []
    for path in below.map({ sandbox.home + "/" + $0 }) + [sandbox.home] {
      var isFolder: ObjCBool = false
      guard files.fileExists(atPath: path, isDirectory: &isFolder) else { continue }
      try files.setAttributes([.posixPermissions: isFolder.boolValue ? folder : file], ofItemAtPath: path)
    }
  }
}
