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

  /// Otherwise another file would be written than the one that was named.
  @Test(arguments: ["export", "import", "rm"])
  func anArgumentThatIsNoTextIsRefused(command: String) async throws {
    let scratch = try Scratch()
    let line = "exec \"$0\" \"$1\" \"$(printf 'cities/\\377')\""
    let run = try await scratch.run("/bin/sh", ["-c", line, Binary.path, command])
    expectFailure(run, status: 64, mentioning: ["argument 2", "UTF-8"])
    #expect(!scratch.exists("home"))
  }

  /// Otherwise the store would be looked for in another folder than the one that was named.
  @Test(arguments: ["CACHECTL_HOME", "HOME", "CACHECTL_SQLITE_PATH"])
  func aVariableThatIsNoTextIsRefused(name: String) async throws {
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
