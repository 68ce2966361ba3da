import Foundation
import Testing

/// The effects of the configuration, and the messages about a wrong one.
@Suite struct ConfigurationTests {
  private func origin(of key: String, _ run: Run) throws -> (value: String?, origin: String?) {
    let settings = try run.document()["settings"]?.elements ?? []
    let setting = try #require(settings.first { $0["key"] == .text(key) })
    return (setting["value"]?.text, setting["origin"]?.text)
  }

  @Test func editingOneLineSwapsTheEngine() async throws {
    let scratch = try Scratch()
    for (engine, file) in [("lmdb", "lmdb/data.mdb"), ("plist", "plist/cities.json"), ("sqlite", "cache.sqlite")] {
      try scratch.configure(text: #"{"backend": "\#(engine)"}"#)
      #expect(!scratch.exists("home/\(file)"))
      let document = try await scratch.cachectl("fetch", "cities", "--output", "json").document()
      #expect(document["backend"] == .text(engine) && document["source"] == "origin")
      #expect(scratch.exists("home/\(file)"))
      let shown = try origin(
        of: "backend", try await scratch.cachectl("config", "show", "--origin", "--output", "json"))
      #expect(shown.value == engine)
      #expect(shown.origin?.contains("config.json:1:") == true, "\(shown.origin ?? "-")")
    }
  }

  @Test func flagBeforeEnvironmentBeforeFileBeforeDefault() async throws {
    let scratch = try Scratch()
    let command = ["config", "show", "--origin", "--output", "json"]
    #expect(try origin(of: "backend", try await scratch.cachectl(command)) == ("sqlite", "default"))
    try scratch.configure(text: #"{"backend": "lmdb"}"#)
    #expect(try origin(of: "backend", try await scratch.cachectl(command)).value == "lmdb")
    let environment = ["CACHECTL_BACKEND": "plist", "CACHECTL_LMDB_MAP_SIZE": "1MiB"]
    let byVariable = try await scratch.cachectl(command, environment: environment)
    #expect(try origin(of: "backend", byVariable) == ("plist", "CACHECTL_BACKEND"))
    let byFlag = try await scratch.cachectl(command + ["--backend", "memory"], environment: environment)
    #expect(try origin(of: "backend", byFlag) == ("memory", "--backend"))
  }

  @Test func theFilesAreLookedForInOrder() async throws {
    let scratch = try Scratch()
    try scratch.makeFolder("user/config/cachectl")
    let places = [Scratch.configuration, "variable.json", "flag.json"]
    for (place, engine) in zip(places, ["lmdb", "memory", "sqlite"]) {
      try scratch.write(#"{"backend": "\#(engine)"}"#, to: place)
    }
    let variable = ["CACHECTL_CONFIG": scratch.path("variable.json")]
    func backend(_ options: [String], _ environment: [String: String]) async throws -> JSON? {
      try await scratch.cachectl(["config", "show", "--output", "json"] + options, environment: environment)
        .document()["backend"]
    }
    #expect(try await backend(["--config", scratch.path("flag.json")], variable) == "sqlite")
    #expect(try await backend([], variable) == "memory")
    #expect(try await backend([], [:]) == "lmdb")
    let path = try await scratch.cachectl("config", "path", "--output", "json").document()
    #expect(path["file"] == .text(scratch.path(places[0])))
  }

  /// It may have come with a folder of another person.
  @Test(arguments: [
    #"{"backend": "PLUGINS/libcachectl-folder.so", "plugins": {"searchPath": ["PLUGINS"]}}"#,
    #"{"origin": {"cities": {"kind": "http", "baseURL": "http://127.0.0.1:9", "headers": {"X": {"env": "SECRET"}}}}}"#,
    #"{"cache": {"maxEntries": 1}, "backends": {"sqlite": {"path": "/nowhere"}}}"#, "{ no JSON",
  ])
  func aFileInTheWorkingFolderChangesNothing(text: String) async throws {
    let commands = [
      ["fetch", "cities", "--output", "json", "--refresh"], ["ls", "--output", "json"], ["config", "show", "--origin"],
      ["backends"], ["doctor"], ["rm", "--all", "--yes"],
    ]
    let (hostile, clean) = (try Scratch(), try Scratch())
    try hostile.install(EngineLibraries.marking, as: "folder")
    try hostile.write(text.replacing("PLUGINS", with: hostile.path("plugins")), to: "work/cachectl.json")
    for command in commands {
      var runs: [(status: Int32, text: String, errors: String)] = []
      for scratch in [clean, hostile] {
        let run = try await scratch.cachectl(command, environment: ["SECRET": "hush"])
        let (text, errors) = (scratch.withoutPlacesAndTimes(run.text), scratch.withoutPlacesAndTimes(run.errors))
        runs.append((run.status, text, errors))
      }
      #expect(runs[0] == runs[1], "\(command)")
    }
    #expect(!hostile.exists("work/marked"))
  }

  @Test func anUnknownVariableIsMentionedByCommandsAboutTheConfiguration() async throws {
    let (scratch, variables) = (try Scratch(), ["CACHECTL_CACHE_TTL": "5m"])
    for command in [["config", "show"], ["config", "validate"]] {
      let run = try await scratch.cachectl(command, environment: variables)
      #expect(run.status == 0 && run.errors.contains("CACHECTL_CACHE_TTL is ignored"), "\(run.errors)")
      #expect(run.errors.contains("the nearest known variable is CACHECTL_CACHE_TIME_TO_LIVE"))
    }
    #expect(try await scratch.cachectl("doctor", environment: variables).text.contains("CACHECTL_CACHE_TTL is ignored"))
    #expect(try await scratch.cachectl("ls", "-q", environment: variables).errors.isEmpty)
  }

  @Test func theProblemsAreInTheDocument() async throws {
    let scratch = try Scratch()
    try scratch.write(#"{"cache": {"maxEntrys": 1}, "backends": {"sqlite": {"path": "a\u0000b"}}}"#, to: "file")
    let run = try await scratch.cachectl("config", "validate", scratch.path("file"), "--output", "json")
    #expect(run.status == 78)
    let problems = try #require(try run.document()["problems"]?.elements)
    #expect(problems.map { $0["code"] } == [.text("unknownKey"), .text("malformed")])
    #expect(problems[1]["message"]?.text?.contains("file:1:61: 'backends.sqlite.path' is not a path") == true)
    #expect(problems.allSatisfy { $0.names == ["code", "hint", "message"] })
  }

  /// Each setting is valid, and yet no command can use them together.
  @Test func anEngineThatEveryCommandRefusesIsNotValid() async throws {
    let scratch = try Scratch()
    try scratch.configure(
      text: #"{"backend": "tiered", "backends": {"tiered": {"local": "plist", "remote": "plist"}}}"#)
    let run = try await scratch.cachectl("config", "validate")
    #expect(run.status == 78 && run.text.contains("plist cannot be put in front of itself"), "\(run.text)")
    expectFailure(try await scratch.cachectl("ls"), status: 78, mentioning: ["cannot be put in front of itself"])
  }

  @Test func theExampleIsValidAndKept() async throws {
    let scratch = try Scratch()
    expectSuccess(try await scratch.cachectl("config", "init"))
    let file = "user/config/cachectl/config.json"
    let text = try scratch.read(file)
    expectSuccess(try await scratch.cachectl("config", "validate", scratch.path(file)))
    let again = try await scratch.cachectl("config", "init")
    #expect(again.status != 0 && again.errorLines.count == 1)
    #expect(try scratch.read(file) == text)
    let shown = try await scratch.cachectl("config", "show", "--output", "json")
    try scratch.write(shown.output, to: "shown.json")
    expectSuccess(try await scratch.cachectl("config", "validate", scratch.path("shown.json")))
    #expect(try await scratch.cachectl("config", "schema").document()["properties"]?["backend"] != nil)
  }

  @Test func withoutHOMEThePasswordDatabaseNamesTheHome() async throws {
    let registered = getpwuid(geteuid()).flatMap { $0.pointee.pw_dir.map { String(cString: $0) } } ?? "/"
    let names = ["HOME", "CACHECTL_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"]
    let run = try await Scratch().cachectl(
      "config", "show", "--output", "json", environment: Dictionary(uniqueKeysWithValues: names.map { ($0, "") }))
    if registered == "/" { return expectFailure(run, status: 78, mentioning: ["HOME is not set", "CACHECTL_HOME"]) }
    let path = try run.document()["backends"]?["sqlite"]?["path"]
    #expect(path == .text("\(registered)/.cache/cachectl/cache.sqlite"))
  }

  @Test func aFlagSetsAnyKey() async throws {
    let run = try await Scratch().cachectl(
      "config", "show", "--origin", "--output", "json", "--set", "cache.timeToLive=5m", "--set",
      "backends.sqlite.durability=full", environment: ["CACHECTL_QUERIES_MAX_COUNT": "3"])
    for (key, value, source) in [
      ("cache.timeToLive", "5m", "--set"), ("backends.sqlite.durability", "full", "--set"),
      ("queries.maxCount", nil, "CACHECTL_QUERIES_MAX_COUNT"),
    ] as [(String, String?, String)] { #expect(try origin(of: key, run) == (value, source)) }
    expectFailure(
      try await Scratch().cachectl("ls", "--set", "cache.timeToLiv=5m"), status: 64,
      mentioning: ["--set: unknown key", "'cache.timeToLive'"])
  }

  static let mistakes: [(text: String, words: [String])] = [
    ("{\"backend\": ", [":1:", "json"]), ("{\n  \"backend\": \"lmdb\",\n}", [":3:1"]), ("", [":1:1"]), ("[]", [":1:1"]),
    ("{\n  \"bakend\": \"lmdb\"\n}", [":2:3", "'bakend'", "'backend'"]),
    ("{\"cache\": {\"timeToLiv\": \"1h\"}}", [":1:12", "timeToLiv", "timeToLive"]),
    ("{\"queries\": {\"maxCount\": \"ten\"}}", [":1:26", "queries.maxCount"]),
    ("{\"queries\": {\"maxCount\": 0}}", [":1:26", "queries.maxCount"]),
    ("{\"queries\": {\"maxCount\": 1.5}}", [":1:26", "queries.maxCount"]),
    ("{\"backends\": {\"lmdb\": {\"mapSize\": \"64 apples\"}}}", ["backends.lmdb.mapSize"]),
    ("{\"backends\": {\"sqlite\": {\"durability\": \"nomal\"}}}", ["durability", "normal"]),
    ("{\"cache\": {\"timeToLive\": \"soon\"}}", ["cache.timeToLive"]), ("{\"cache\": 3}", ["cache"]),
    ("{\"backend\": 1}", [":1:13", "backend"]),
    ("{\"backend\": \"lmdb\", \"backend\": \"plist\"}", ["backend"]),
  ]

  @Test func anUnknownBackendIsNamedWithThePlace() async throws {
    let scratch = try Scratch()
    try scratch.write(#"{"backend": "sqlit"}"#, to: "own.json")
    expectFailure(
      try await scratch.cachectl("ls", "--config", scratch.path("own.json")), status: 78,
      mentioning: ["own.json:1:13", "\"sqlit\"", "sqlite"])
  }

  @Test(arguments: mistakes)
  func aWrongFileIsNamedWithThePlace(text: String, words: [String]) async throws {
    let scratch = try Scratch()
    try scratch.configure(text: text)
    expectFailure(
      try await scratch.cachectl("fetch", "cities"), status: 78, mentioning: ["config.json:"] + words)
    let validation = try await scratch.cachectl("config", "validate", "--output", "json")
    #expect(validation.status == 78)
    #expect(try validation.document()["valid"] == false)
    #expect(!scratch.exists("home"))
  }

  @Test(arguments: [
    (["CACHECTL_BACKEND": "sqlit"], ["CACHECTL_BACKEND", "sqlite"]),
    (["CACHECTL_LMDB_DURABILITY": "ful"], ["CACHECTL_LMDB_DURABILITY", "full"]),
    (["CACHECTL_SQLITE_BUSY_TIMEOUT": "x"], ["CACHECTL_SQLITE_BUSY_TIMEOUT"]),
    (["CACHECTL_LMDB_MAPSIZE": "1MiB"], ["CACHECTL_LMDB_MAPSIZE", "CACHECTL_LMDB_MAP_SIZE"]),
  ])
  func aWrongVariableIsNamed(environment: [String: String], words: [String]) async throws {
    let run = try await Scratch().cachectl("ls", environment: environment)
    expectFailure(run, status: 78, mentioning: words)
  }
}

extension Scratch {
  /// `text` with the same in place of the path of this folder, each number, and each gap. A whole second or size has no
  /// fraction.
  fileprivate func withoutPlacesAndTimes(_ text: String) -> String {
    var shown = ""
    for character in text.replacing(folder, with: "FOLDER") {
      let mark: Character = character.isNumber ? "#" : character.isWhitespace ? " " : character
      if !"# ".contains(mark) || shown.last != mark { shown.append(mark) }
    }
    return shown.replacing("#.#", with: "#")
  }
}
