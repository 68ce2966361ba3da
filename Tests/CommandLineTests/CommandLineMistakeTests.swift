import Foundation
import Testing

/// Command lines that are wrong: 64, one line that names the mistake and the nearest name.
@Suite struct CommandLineMistakeTests {
  @Test(
    arguments: [
      (["fecth"], ["fecth", "fetch", "help"]), (["fetch", "citys"], ["citys", "cities", "help"]),
      (["ls", "--limt", "3"], ["--limt", "--limit", "help ls"]), (["ls", "--zzzzzz"], ["--zzzzzz", "help ls"]),
      (["-Z", "ls"], ["-Z", "help"]), (["ls", "--limit"], ["--limit"]), (["ls", "--limit", "x"], ["'x'", "--limit"]),
      (["ls", "--limit", "-1"], ["--limit"]), (["ls", "--limit", "99999999999999999999"], ["--limit"]),
      (["ls", "--state", "frsh"], ["frsh", "fresh"]), (["ls", "--output", "xml"], ["xml", "json"]),
      (["fetch", "movies"], ["--query"]), (["fetch", "movies", "--query", " "], ["--query"]),
      (["fetch", "movies", "--query", "x", "--page", "0"], ["--page"]),
      (["fetch", "cities", "--page", "-1"], ["--page"]), (["fetch", "cities", "--page", "1.5"], ["1.5", "--page"]),
      (["fetch", "cities", "--order", "size"], ["size", "revenue"]),
      (["fetch", "cities", "--max-age", "5 minutes"], ["--max-age", "5m"]),
      (["fetch", "cities", "--offline", "--refresh"], ["--offline", "--refresh"]),
      (["fetch", "poster"], ["path"]), (["fetch", "poster", "/1.png", "--width", "0"], ["--width"]),
      (["show"], ["key"]), (["show", "a/b", "c/d"], ["c/d"]), (["rm"], ["--all"]),
      (["rm", "--all"], ["--yes", "'cachectl help rm'"]), (["ls", "--limit", "0"], ["'cachectl help ls'"]),
      (["bench", "--workload", "full", "--policy", "nope"], ["nope", "'cachectl help bench'"]),
      (["--config", "", "ls"], ["'--config' is empty", "a file", "help ls"]), (["ls", "--config="], ["'--config' is"]),
      (["--home", "", "ls"], ["'--home' is empty", "a directory", "help ls"]), (["export", ""], ["'FILE' is empty"]),
      (["import", ""], ["'FILE' is empty"]), (["config", "init", ""], ["'FILE' is empty"]),
      (["config", "validate", ""], ["'FILE' is empty"]), (["bench", "--report", ""], ["'--report' is empty"]),
      (["fetch", "poster", "/1.png", "--out", ""], ["'--out' is empty", "help fetch poster"]),
      (["fetch", "url", "http://127.0.0.1:1/", "-o", ""], ["'--out' is empty"]),
      (["fetch", "url", "http://127.0.0.1:1/", "-d", "@"], ["the name of a file is empty"]),
      (["fetch", "url", "http://127.0.0.1:1/", "--cacert", ""], ["'--cacert' is empty"]),
      (["rm", "--prefix", ""], ["--all"]), (["rm", "--all", "cities/x"], ["--all"]), (["completion"], ["shell"]),
      (["completion", "tcsh"], ["tcsh", "zsh"]),
      (["ls", "extra"], ["extra"]), (["--backend", "sqlit", "ls"], ["sqlit", "sqlite"]),
      (["ls", "--quiet=yes"], ["--quiet"]), (["ls", "--limit", ""], ["--limit"]), (["help", "nothing"], ["nothing"]),
      (["config", "show", "--config", "missing.json"], ["missing.json"]),
    ] as [([String], [String])])
  func mistakesAreNamed(arguments: [String], words: [String]) async throws {
    let scratch = try Scratch()
    expectFailure(try await scratch.cachectl(arguments), status: 64, mentioning: words)
    #expect(!scratch.exists("home"), "A command line that is wrong touches nothing")
  }

  @Test(arguments: [
    (["--output", "json", "fecth"], "commandLine"), (["ls", "--output=json", "--limit", "x"], "commandLine"),
    (["fetch", "cities", "--offline", "--output", "json"], "notCached"),
    (["--output", "json", "show", "cities/none"], "notFound"),
  ])
  func scriptsGetADocument(arguments: [String], code: String) async throws {
    let run = try await Scratch().cachectl(arguments)
    #expect(run.status != 0 && run.output.isEmpty)
    #expect(run.errorLines.count == 1, "\(run.errors)")
    let error = try #require(try JSON(Data(run.errorLines[0].utf8))["error"])
    #expect(error.names == ["code", "hint", "message"])
    #expect(error["code"] == .text(code))
  }

  /// A message quotes no more of a command line than a person reads, and keeps the end of a path.
  @Test(arguments: [
    [long], ["ls", "--\(long)"], ["ls", "--limit", long], ["help", long], ["ls", long], ["--backend", long, "ls"],
    ["--config", "/\(long)/end.json", "ls"], ["--set", "\(long)=1", "ls"], ["--set", "cache.timeToLive=\(long)", "ls"],
    ["import", "/\(long)/end.json"], ["export", "/\(long)/end.json"], ["show", long], ["show", "a/\(long)"],
    ["rm", "--namespace", long], ["--offline", "fetch", "url", "http://127.0.0.1:1/\(long)/end.json"],
    ["fetch", "url", "http://\(long)/"], ["--home", "/\(long)", "ls"],
  ])
  func noMessageIsEndless(arguments: [String]) async throws {
    for format in ["table", "json"] {
      let run = try await Scratch().cachectl(arguments + ["--quiet", "--output", format])
      #expect(run.status != 0 && run.errorLines.count == 1, "\(run.errors.prefix(500))")
      #expect(run.errors.utf8.count < 1_500, "\(arguments[0]): \(run.errors.utf8.count)")
      let isPath = arguments.contains { $0.hasPrefix("/") && $0.hasSuffix("end.json") }
      #expect(!isPath || run.errors.contains("xx/end.json"), "\(run.errors)")
    }
  }

  private static let long = String(repeating: "x", count: 20_000)

  /// Otherwise another file would be written than the one that was named.
  @Test(arguments: ["export", "import", "rm"])
  func anArgumentThatIsNotTextIsRefused(command: String) async throws {
    let scratch = try Scratch()
    let line = "exec \"$0\" \"$1\" \"$(printf 'cities/\\377')\""
    let run = try await scratch.run("/bin/sh", ["-c", line, Binary.path, command])
    expectFailure(run, status: 64, mentioning: ["argument 2", "UTF-8"])
    #expect(!scratch.exists("home"))
  }

  /// Otherwise the tool would look for the store in another directory than the named one.
  @Test(arguments: ["CACHECTL_HOME", "HOME", "CACHECTL_SQLITE_PATH"])
  func aVariableThatIsNotTextIsRefused(name: String) async throws {
    let scratch = try Scratch()
    let line = "\(name)=\"$(printf '/tmp/\\377')\" exec \"$0\" ls"
    expectFailure(
      try await scratch.run("/bin/sh", ["-c", line, Binary.path]), status: 78, mentioning: [name, "UTF-8"])
  }

  @Test func controlCharactersAreNotRepeatedRaw() async throws {
    let run = try await Scratch().cachectl("show", "cities/\u{1B}[31m\u{7}\nfake")
    #expect(run.status != 0 && run.errorLines.count == 1)
    #expect(!run.errors.contains("\u{1B}") && !run.errors.contains("\u{7}"))
  }
}
