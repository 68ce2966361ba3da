import Foundation
import Testing

/// Help, the version and the completion of shells, for every command that there is.
@Suite struct HelpTests {
  /// The words of each command after the name of the program, from the reference.
  private static func commands(_ scratch: Scratch) async throws -> [[String]] {
    try await scratch.cachectl("__reference", "commands.md").lines.filter { $0.hasPrefix("## cachectl") }
      .map { $0.split(separator: " ").dropFirst(2).map(String.init) }
  }

  @Test func everyCommandHasHelp() async throws {
    let scratch = try Scratch()
    let commands = try await Self.commands(scratch)
    #expect(commands.count >= 30)
    for path in commands {
      let run = try await scratch.cachectl(["help"] + path)
      expectSuccess(run)
      #expect(run.errors.isEmpty)
      #expect(run.text.contains("\n\nUsage: cachectl "), "\(run.text)")
      #expect(run.lines.filter { $0.count > 80 && !$0.hasPrefix("  cachectl ") } == [], "\(path)")
      #expect(try await scratch.cachectl(path + ["--help"]).text == run.text)
    }
  }

  @Test func theContractNamesEveryCommand() async throws {
    let expected = [
      "fetch", "explain", "queries", "ls", "show", "rm", "stats", "verify", "compact", "export", "import", "migrate",
      "bench", "doctor", "backends", "config", "completion",
    ]
    #expect(Set(try await Self.commands(Scratch()).compactMap(\.first)) == Set(expected))
  }

  @Test func theVersionIsOneLine() async throws {
    let run = try await Scratch().cachectl("--version")
    expectSuccess(run)
    #expect(run.text.wholeMatch(of: /cachectl \d+\.\d+\.\d+\n/) != nil, "\(run.text)")
  }

  /// `Scripts/release` takes the version from the program, and its notes from the changelog.
  @Test func manualChangelogAndReadmeHaveTheVersionOfTheProgram() async throws {
    let scratch = try Scratch()
    let program = try await scratch.cachectl("--version").text.trimmingCharacters(in: .newlines)
    let version = String(program.dropFirst("cachectl ".count))
    for page in ["cachectl.1", "cachectl-ls.1", "cachectl.json.5"] {
      #expect(try await scratch.cachectl("__manual", page).text.contains("\"\(program)\""), "\(page)")
    }
    let file = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
    let root = file.appendingPathComponent("../../..").standardized
    func page(_ name: String) throws -> String {
      try String(contentsOf: root.appendingPathComponent(name), encoding: .utf8)
    }
    let section = try #require(
      page("CHANGELOG.md").firstMatch(of: /(?m)^## (\S+) - (?:unreleased|\d{4}-\d{2}-\d{2})$/))
    #expect(section.1 == version)
    #expect(try page("README.md").contains("\nVersion \(version)"))
  }

  /// How a shell runs a completion script and prints its offers for `cachectl ` and the words.
  private static let shells = [
    (
      "bash",
      """
      source ./script; COMP_WORDS=(cachectl "$@"); COMP_CWORD=$#; _cachectl; printf '%s\\n' "${COMPREPLY[@]}"
      """
    ),
    (
      "zsh",
      """
      setopt extended_glob; compdef() { }; _describe() { print -rl -- "${(@P)2}" }; _files() { print -rl -- ${~2} }
      source ./script; words=(cachectl "$@"); CURRENT=$#words; PREFIX=$words[-1]; _cachectl
      """
    ),
    ("fish", "source ./script; complete -C (string join ' ' -- cachectl $argv)"),
  ]

  @Test(arguments: shells)
  func everyShellCompletesWithTheScript(shell: String, code: String) async throws {
    let scratch = try Scratch()
    let script = try await scratch.cachectl("completion", shell)
    expectSuccess(script)
    try scratch.write(script.output, to: "work/script")
    try scratch.write("{}", to: "work/own.json")
    try scratch.makeFolder("work/bin")
    try FileManager.default.createSymbolicLink(
      atPath: scratch.path("work/bin/cachectl"), withDestinationPath: Binary.path)
    expectSuccess(try await scratch.cachectl("fetch", "cities"))
    let start: [String] = ["-c", "PATH=$PWD/bin:$PATH exec \"$@\"", "sh", shell] + Self.options(shell) + ["-c", code]
    let offers: [(words: [String], offer: String)] = [
      (["fetch", "cit"], "cities"), (["--backend", "lm"], "lmdb"), (["ls", "--stat"], "--state"),
      (["show", "citi"], Contract.citiesKey), (["config", "validate", "own"], "own.json"),
    ]
    for (words, offer) in offers {
      // The name of the code for bash and zsh ends the options of fish.
      let arguments: [String] = start + ["--"] + words
      // The script calls `cachectl`, as its user does. A completion may have given up after its second.
      var run = try await scratch.run("/bin/sh", arguments)
      for _ in 1..<30 where run.lines.isEmpty { run = try await scratch.run("/bin/sh", arguments) }
      let lines = run.lines.map { $0.replacing("\\:", with: ":") }
      #expect(lines.contains { $0.hasPrefix(offer) }, "\(words): \(run.text)\(run.errors)")
    }
  }

  /// The options with which a shell reads no configuration.
  private static func options(_ shell: String) -> [String] {
    ["bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]][shell] ?? []
  }
}
