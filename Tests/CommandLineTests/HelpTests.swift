import Testing

/// What the program says of itself.
@Suite struct HelpTests {
  private let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  @Test func theVersionIsOneLine() async throws {
    let run = try await sandbox.run("--version")
    #expect(run.output.wholeMatch(of: /cachectl \d+\.\d+\.\d+\n/) != nil)
  }

  @Test(
    arguments: [
      [], ["fetch"], ["fetch", "cities"], ["fetch", "movies"], ["fetch", "poster"], ["queries"], ["ls"], ["show"],
      ["rm"],
      ["stats"], ["backends"], ["backends", "test"], ["config"], ["config", "show"], ["config", "init"], ["completion"],
    ] as [[String]])
  func everyCommandHasHelp(_ command: [String]) async throws {
    let run = try await sandbox.run(["help"] + command)
    #expect(run.status == 0)
    #expect(run.output.contains("USAGE"))
    #expect(run.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    let flag = try await sandbox.run(command + ["--help"])
    #expect(flag.output == run.output)
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func completionScriptsAreValid(_ shell: String) async throws {
    let script = try await sandbox.run("completion", shell)
    try sandbox.write(script.output, to: "script")
    let check = try await sandbox.tool(shell, "-n", "script")
    #expect(check.status == 0, "\(check.errors)")
    #expect(script.output.contains("cached-then-network"))
  }

  @Test func optionsMayStandAnywhereAndColoursNowhere() async throws {
    let words = ["fetch", "cities", "--limit", "2"]
    let before = try await sandbox.run(["--backend", "memory"] + words)
    let after = try await sandbox.run(words + ["--backend=memory"])
    #expect(before.output == after.output)
    #expect(!before.output.contains("\u{1B}") && !before.errors.contains("\u{1B}"))
  }
}
