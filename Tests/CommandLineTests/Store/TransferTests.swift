import Foundation
import Testing

/// `export`, `import` and `migrate`, from outside.
@Suite struct TransferTests {
  static let migrationMembers = [
    "bytes", "copied", "damaged", "different", "dryRun", "expired", "from", "kept", "skipped", "to", "verified",
  ]
  static let importMembers = ["backend", "bytes", "dryRun", "evicted", "expired", "imported", "kept", "skipped"]
  static let lineMembers = [
    "attributes", "checksum", "contentType", "format", "freshUntil", "key", "payload", "retainUntil", "storedAt",
  ]

  /// A store with two pages of cities, a search, its query and a poster, whose payload is not a text.
  private func store(_ engine: String) async throws -> Scratch {
    let scratch = try Scratch()
    let commands = [
      ["cities"], ["cities", "--page", "1"], ["movies", "--query", "heat"],
      ["poster", "/2201.png", "--out", scratch.path("poster.png")],
    ]
    for command in commands { expectSuccess(try await scratch.cachectl(["--backend", engine, "fetch"] + command)) }
    return scratch
  }

  private func export(_ scratch: Scratch, _ engine: String) async throws -> Data {
    let run = try await scratch.cachectl("--backend", engine, "export", "--quiet")
    expectSuccess(run)
    #expect(run.errors.isEmpty)
    return run.output
  }

  @Test(arguments: Contract.persistentEngines)
  func everyEntryIsALine(engine: String) async throws {
    let scratch = try await store(engine)
    let run = try await scratch.cachectl("--backend", engine, "export")
    let lines = try run.documents()
    #expect(lines.count == 5)
    #expect(run.errors == "Exported 5 entries (\(sizeText(run.errors))) of \(engine)\n", "\(run.errors)")
    for line in lines {
      #expect(
        line.names.filter { $0 != "payloadBase64" }
          == Self.lineMembers.filter { $0 != "payload" || line["payload"] != nil })
      for time in ["storedAt", "freshUntil", "retainUntil"] { #expect(Contract.isTimestamp(line[time])) }
      #expect(line["format"] == 1 && line["checksum"]?.text?.wholeMatch(of: /[0-9a-f]{16}/) != nil)
    }
    let shown = try await scratch.cachectl("--backend", engine, "show", Contract.citiesKey, "--output", "json")
      .document()
    let cities = try #require(lines.first { $0["key"]?.text == Contract.citiesKey })
    for name in ["attributes", "contentType", "payload"] { #expect(cities[name] == shown[name], "\(name)") }
    // A view leaves out milliseconds if there are none.
    #expect(cities["storedAt"]?.text?.replacing(".000Z", with: "Z") == shown["storedAt"]?.text)
    let poster = try #require(lines.first { $0["key"]?.text?.hasPrefix("posters/") == true })
    #expect(poster["payload"] == nil)
    #expect(Data(base64Encoded: poster["payloadBase64"]?.text ?? "") == (try scratch.read("poster.png")))
    let movies = try await scratch.cachectl("--backend", engine, "export", "--namespace", "movies").documents()
    #expect(movies.count == 1)
  }

  private func sizeText(_ line: String) -> Substring { line.firstMatch(of: /\((.*)\)/)?.output.1 ?? "" }

  @Test(arguments: [("sqlite", "lmdb"), ("lmdb", "plist"), ("plist", "sqlite")])
  func exportedEntriesAreImported(from: String, to: String) async throws {
    let scratch = try await store(from)
    let lines = try await export(scratch, from)
    let run = try await scratch.cachectl("--backend", from, "--output", "json", "export", scratch.path("file"))
    let view = try run.document()
    #expect(view.names == ["backend", "bytes", "damaged", "exported", "file"] && view["exported"] == 5)
    #expect(try scratch.read("file") == lines)
    let mode = try FileManager.default.attributesOfItem(atPath: scratch.path("file"))[.posixPermissions] as? Int
    #expect(mode == 0o600, "cached responses can be private")
    let command = ["--backend", to, "--output", "json", "import", scratch.path("file")]
    let rehearsal = try await scratch.cachectl(command + ["--dry-run"]).document()
    #expect(rehearsal["imported"] == 5 && rehearsal["dryRun"] == true)
    #expect(try await export(scratch, to).isEmpty)
    let imported = try await scratch.cachectl(command).document()
    #expect(imported.names == Self.importMembers && imported["imported"] == 5 && imported["skipped"] == 0)
    #expect(try await export(scratch, to) == lines)
    #expect(try await scratch.cachectl(command).document()["skipped"] == 5)
    let offline = try await scratch.cachectl("--backend", to, "fetch", "cities", "--offline", "--output", "json")
    expectSuccess(offline)
  }

  @Test(arguments: [("lmdb", "sqlite"), ("plist", "lmdb"), ("sqlite", "plist")])
  func aMigrationCarriesEverything(from: String, to: String) async throws {
    let scratch = try await store(from)
    let lines = try await export(scratch, from)
    let command = ["--output", "json", "migrate", "--from", from, "--to", to]
    let rehearsal = try await scratch.cachectl(command + ["--dry-run"]).document()
    #expect(rehearsal["copied"] == 5 && rehearsal["verified"] == 0 && rehearsal["dryRun"] == true)
    let run = try await scratch.cachectl(command)
    expectSuccess(run)
    let view = try run.document()
    #expect(view.names == Self.migrationMembers && view["from"] == .text(from) && view["to"] == .text(to))
    #expect(view["copied"] == 5 && view["skipped"] == 0 && view["verified"] == 5 && view["different"] == 0)
    #expect(try await export(scratch, to) == lines)
    #expect(try await export(scratch, from) == lines)
    let again = try await scratch.cachectl(command).document()
    #expect(again["copied"] == 0 && again["skipped"] == 5 && again["verified"] == 5)
  }

  @Test func theNewerEntryIsKeptUnlessOverwritten() async throws {
    let scratch = try await store("sqlite")
    let before = try await export(scratch, "sqlite")
    expectSuccess(try await scratch.cachectl("--backend", "lmdb", "fetch", "cities"))
    let kept = try await scratch.cachectl("migrate", "--from", "sqlite", "--to", "lmdb", "--output", "json")
    expectSuccess(kept)
    #expect(try kept.document()["kept"] == 1 && kept.document()["verified"] == 4)
    #expect(try await export(scratch, "lmdb") != before)
    let forced = try await scratch.cachectl(
      "migrate", "--from", "sqlite", "--to", "lmdb", "--overwrite", "--output", "json")
    #expect(try forced.document()["copied"] == 1 && forced.document()["verified"] == 5)
    #expect(try await export(scratch, "lmdb") == before)
  }

  @Test(
    arguments: [
      ([], "--from"), (["--from", "sqlite"], "--to"), (["--from", "sqlite", "--to", "sqlite"], "same backend"),
      (["--from", "sqlit", "--to", "lmdb"], "the nearest is sqlite"),
      (["--from", "sqlite", "--to", "none"], "no backend 'none'"),
      (["--from", "sqlite", "--to", "memory"], "--to memory"),
    ] as [([String], String)])
  func aWrongCommandLineIsRefused(options: [String], message: String) async throws {
    let scratch = try Scratch()
    expectFailure(try await scratch.cachectl(["migrate"] + options), status: 64, mentioning: [message])
    #expect(!scratch.exists("home"))
  }

  @Test(arguments: Contract.persistentEngines)
  func aMalformedLineIsNamed(engine: String) async throws {
    let scratch = try await store("sqlite")
    var lines = try await export(scratch, "sqlite").split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    lines[2] = lines[2].replacing("\"storedAt\":\"20", with: "\"storedAt\":\"21")
    try scratch.write(lines.joined(separator: "\n"), to: "file")
    let run = try await scratch.cachectl("--backend", engine, "import", scratch.path("file"), "--output", "json")
    expectFailure(run, status: 65, mentioning: ["file, line 3: ", "checksum", "no entry was imported"])
    if engine != "sqlite" { #expect(try await export(scratch, engine).isEmpty) }
  }

  @Test(arguments: ["key", "storedAt", "freshUntil", "retainUntil", "payload"])
  func aMissingMemberIsNamed(member: String) async throws {
    let scratch = try Scratch()
    let line =
      #"{"key": "a/1", "storedAt": "2026-01-31T08:09:10.123Z", "freshUntil": "2026-01-31T08:09:10.123Z", "#
      + #""retainUntil": "2026-01-31T08:09:10.123Z", "payload": "x"}"#
    try scratch.write("\n\(line.replacing("\"\(member)\":", with: "\"uses\": 1, \"contentType\":"))\n", to: "file")
    let words = [
      "line 2", "'\(member)' is missing", "key, storedAt, freshUntil, retainUntil, and payload or payloadBase64",
    ]
    expectFailure(try await scratch.cachectl("import", scratch.path("file")), status: 65, mentioning: words)
  }

  /// The store is within its limits after an import: the next fetch need not make room.
  @Test(arguments: Contract.persistentEngines)
  func anImportEvictsEntriesAboveTheLimits(engine: String) async throws {
    let scratch = try await store(engine)
    let lines = try await export(scratch, engine)
    try scratch.write(lines, to: "file")
    let options = ["--backend", engine, "--home", scratch.path("other"), "--set", "cache.maxEntries=2"]
    let command = options + ["import", scratch.path("file"), "--output", "json"]
    #expect(try await scratch.cachectl(command + ["--dry-run"]).document()["evicted"] == 0)
    let run = try await scratch.cachectl(command)
    expectSuccess(run)
    #expect(try run.document()["imported"] == 5 && run.document()["evicted"] == 3)
    #expect(run.errors.contains("3 entries were evicted from \(engine)"), "\(run.errors)")
    let statistics = try await scratch.cachectl(options + ["stats", "--output", "json"]).document()
    #expect(statistics["entries"] == 2 && statistics["evictions"] == 3)
    let kept = try await scratch.cachectl(
      [
        "--backend", engine, "--home", scratch.path("third"), "--set", "cache.maxEntries=2", "--set",
        "cache.eviction=none",
      ]
        + ["import", scratch.path("file")])
    expectSuccess(kept)
    #expect(kept.errors.contains("\(engine) now holds 5 entries"), "\(kept.errors)")
    #expect(kept.errors.contains("nothing new is stored"), "\(kept.errors)")
  }

  @Test func filesThatCannotBeUsedAreNamed() async throws {
    let scratch = try await store("sqlite")
    let missing = scratch.path("none/file")
    expectFailure(try await scratch.cachectl("import", missing), status: 74, mentioning: [missing])
    expectFailure(try await scratch.cachectl("export", missing), status: 74, mentioning: [missing])
    expectFailure(try await scratch.cachectl("export", scratch.folder), status: 74, mentioning: [scratch.folder])
    #expect(scratch.names(below: "work").isEmpty)
  }

  /// As with curl, cp and every editor: the file that a link leads to is written, even if it is not there yet.
  @Test(arguments: [["export"], ["fetch", "poster", "/2201.png", "--out"]], [false, true])
  func aSymbolicLinkStaysAndItsTargetIsWritten(command: [String], exists: Bool) async throws {
    let scratch = try await store("sqlite")
    try scratch.makeFolder("elsewhere")
    if exists { try scratch.write("before", to: "elsewhere/file") }
    for (link, target) in [("first", "elsewhere/second"), ("elsewhere/second", "file")] {
      try FileManager.default.createSymbolicLink(atPath: scratch.path(link), withDestinationPath: target)
    }
    expectSuccess(try await scratch.cachectl(command + [scratch.path("first")]))
    let attributes = try FileManager.default.attributesOfItem(atPath: scratch.path("elsewhere/file"))
    #expect(attributes[.type] as? FileAttributeType == .typeRegular && attributes[.size] as? Int ?? 0 > 6)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: scratch.path("first")) == "elsewhere/second")
    #expect(scratch.names(below: "elsewhere") == ["file", "second"])
  }

  @Test func aFileThatIsReplacedKeepsItsPermissions() async throws {
    let scratch = try Scratch()
    try scratch.write("before", to: "file")
    let path = scratch.path("file")
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    expectSuccess(try await scratch.cachectl("fetch", "poster", "/2201.png", "--out", path))
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o640 && attributes[.size] as? Int ?? 0 > 6)
  }

  @Test func aSymbolicLinkToItselfIsAMistake() async throws {
    let scratch = try await store("sqlite")
    let link = scratch.path("link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: link)
    expectFailure(try await scratch.cachectl("export", link), status: 74, mentioning: [link])
  }

  /// As with curl: a device, a pipe or a standard stream is written, and not replaced by a file.
  @Test(arguments: [["export"], ["fetch", "poster", "/2201.png", "--out"]])
  func aDeviceIsWritten(command: [String]) async throws {
    let scratch = try await store("sqlite")
    expectSuccess(try await scratch.cachectl(command + ["/dev/null"]))
    #expect(try FileManager.default.attributesOfItem(atPath: "/dev/null")[.type] as? FileAttributeType != .typeRegular)
    expectFailure(try await scratch.cachectl(command + ["/dev/full"]), status: 74, mentioning: ["/dev/full", "space"])
    let piped = "mkfifo \"$1\"; cat \"$1\" > \"$1.read\" & shift; \"$0\" \"$@\"; wait; cat pipe.read"
    let run = try await scratch.run("/bin/sh", ["-c", piped, Binary.path, "pipe"] + command + ["pipe"])
    expectSuccess(run)
    expectSuccess(try await scratch.cachectl(command + [scratch.path("file")]))
    #expect(run.output.range(of: try scratch.read("file")) != nil)
  }

  /// /dev/stdout is such a link: a file must not replace the link, and the text that was written before stays.
  @Test(arguments: [1, 2])
  func aLinkToAStreamIsThatStream(stream: Int) async throws {
    let scratch = try await store("sqlite")
    let line =
      "ln -s /proc/self/fd/\(stream) \"$1\"; (echo before; echo before >&2; \"$0\" export --quiet \"$1\") >\"$1.1\" 2>\"$1.2\""
    expectSuccess(try await scratch.run("/bin/sh", ["-c", line, Binary.path, scratch.path("link")]))
    let lines = Data("before\n".utf8) + (try await export(scratch, "sqlite"))
    #expect(try scratch.read("link.\(stream)").starts(with: lines))
    let link = try FileManager.default.destinationOfSymbolicLink(atPath: scratch.path("link"))
    #expect(link == "/proc/self/fd/\(stream)")
  }

  @Test func aHyphenIsTheStandardOutput() async throws {
    let scratch = try await store("sqlite")
    let run = try await scratch.cachectl("export", "-")
    expectSuccess(run)
    #expect(run.output == (try await export(scratch, "sqlite")) && run.errors.hasPrefix("Exported 5 entries"))
    let poster = try await scratch.cachectl("fetch", "poster", "/2201.png", "--out", "-")
    #expect(poster.status == 0 && poster.output.starts(with: [0x89, 0x50, 0x4E, 0x47]), "\(poster.errors)")
    #expect(try await scratch.cachectl("fetch", "poster", "/2201.png", "--out", "/dev/stdout").output == poster.output)
    #expect(
      try await scratch.cachectl("export", "/dev/stdout", "--quiet").output == (try await export(scratch, "sqlite")))
    let saved = try await scratch.cachectl("bench", "--save", "-")
    expectFailure(saved, status: 74, mentioning: ["/dev/stdout"])
    #expect(scratch.names(below: "work").isEmpty)
  }

  /// In a container the tool mostly has the same number each time, and so it has after a crash.
  @Test func exportSucceedsAfterACrashedExport() async throws {
    let scratch = try await store("sqlite")
    let line = "echo left > \"$1.$$.new\" && exec \"$0\" export --quiet \"$1\""
    let run = try await scratch.run("/bin/sh", ["-c", line, Binary.path, scratch.path("file")])
    expectSuccess(run)
    #expect(try scratch.read("file") == (try await export(scratch, "sqlite")))
  }

  /// The limit of the size of files kills the tool in the middle of writing one.
  @Test func aProcessKilledWhileItWritesAFileLeavesTheFileUnchanged() async throws {
    let scratch = try await store("sqlite")
    try scratch.write("before", to: "work/export")
    let line = "ulimit -f 1 && exec \"$0\" export \"$1\""
    let run = try await scratch.run("/bin/sh", ["-c", line, Binary.path, scratch.path("work/export")])
    #expect(run.status != 0 && run.errors.isEmpty, "\(run.status) \(run.errors)")
    #expect(try scratch.read("work/export") == Data("before".utf8))
    expectSuccess(try await scratch.cachectl("export", scratch.path("work/export")))
    #expect(try scratch.read("work/export") == (try await export(scratch, "sqlite")))
  }

  @Test func aReaderThatHasSeenEnoughEndsTheExport() async throws {
    let scratch = try await store("sqlite")
    let pages = try await scratch.cachectl("fetch", "cities", "--all", "--output", "ndjson", "--quiet")
    expectSuccess(pages)
    let run = try await scratch.run(
      "/bin/sh", ["-c", "'\(Binary.path)' export --quiet | head -n 2 | wc -l"])
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    #expect(run.text.trimmingCharacters(in: .whitespaces) == "2\n")
    expectSuccess(try await scratch.cachectl("stats"))
  }

  @Test func entriesBeyondTheBoundsAreReported() async throws {
    let scratch = try await store("sqlite")
    try scratch.write(#"{"cache": {"maxEntries": 2}}"#, to: "few.json")
    let options = ["--config", scratch.path("few.json")]
    let run = try await scratch.cachectl(options + ["migrate", "--from", "sqlite", "--to", "lmdb"])
    expectSuccess(run)
    #expect(run.errors.contains("cachectl: warning: lmdb now holds 5 entries"), "\(run.errors)")
  }

  @Test func aTerminalShowsTheProgressOfAMigration() async throws {
    let scratch = try await store("sqlite")
    let terminal = try PseudoTerminal(columns: 100, rows: 24)
    let program = try RunningProgram(
      Binary.path, ["migrate", "--from", "sqlite", "--to", "lmdb"], in: scratch, environment: ["TERM": "xterm"],
      errorsTo: terminal.path)
    expectSuccess(try await program.end())
    let text = await terminal.end()
    for stage in ["Copying", "Comparing"] {
      #expect(text.contains(try Regex("\(stage)  \\[[=> ]+\\] +20% 1/5, [0-9,.]+/s, 0:00 left")), "\(text)")
    }
    #expect(text.hasSuffix("lmdb has every entry of sqlite: they were compared one by one\u{1B}[0m\r\n"), "\(text)")
  }
}
