import Foundation
import Testing

/// Help, the version and the completion of shells, for every command that there is.
@Suite struct HelpTests {
  /// The names below COMMANDS of a help text.
  private func commands(in help: String) -> [String] {
    let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
    let section = lines.drop { $0 != "COMMANDS" }.dropFirst().prefix { $0.hasPrefix("  ") }
    return section.filter { !$0.hasPrefix("   ") }.compactMap { $0.split(separator: " ").first.map(String.init) }
  }

  @Test func everyCommandHasHelp() async throws {
    let scratch = try Scratch()
    var waiting: [[String]] = [[]]
    var seen = 0
    while let path = waiting.popLast() {
      let run = try await scratch.cachectl(["help"] + path)
      expectSuccess(run)
      #expect(run.errors.isEmpty)
      #expect(run.text.contains("USAGE\n  cachectl \(path.joined(separator: " "))"), "\(run.text)")
      #expect(run.lines.filter { $0.count > 80 } == [], "\(path)")
      #expect(try await scratch.cachectl(path + ["--help"]).text == run.text)
      waiting += commands(in: run.text).filter { $0 != "help" }.map { path + [$0] }
      seen += 1
    }
    #expect(seen >= 20, "The root, its nine commands and their commands")
  }

  @Test func theRootNamesEveryCommand() async throws {
    let help = try await Scratch().cachectl("help").text
    let expected = [
      "fetch", "explain", "queries", "ls", "show", "rm", "stats", "verify", "compact", "export", "import", "migrate",
      "bench", "doctor", "backends", "config", "completion", "help",
    ]
    let names = Set(commands(in: help))
    #expect(names.isSuperset(of: expected), "\(help)")
  }

  @Test func theVersionIsOneLine() async throws {
    let run = try await Scratch().cachectl("--version")
    expectSuccess(run)
    #expect(run.text.wholeMatch(of: /cachectl \d+\.\d+\.\d+\n/) != nil, "\(run.text)")
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func everyCompletionScriptParses(shell: String) async throws {
    let scratch = try Scratch()
    let script = try await scratch.cachectl("completion", shell)
    expectSuccess(script)
    try scratch.write(script.output, to: "script")
    let check = try await scratch.run("/usr/bin/env", [shell, "-n", scratch.path("script")])
    #expect(check.status == 0, "\(check.errors)")
    #expect(script.text.contains("cities"))
  }
}
