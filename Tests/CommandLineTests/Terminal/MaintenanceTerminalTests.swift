import Foundation
import Testing

/// The output and questions of the commands about a store on a terminal.
@Suite(.timeLimit(.minutes(30))) struct MaintenanceTerminalTests {
  private func store() async throws -> Scratch {
    let scratch = try Scratch()
    expectSuccess(try await scratch.cachectl("fetch", "cities"))
    return scratch
  }

  @Test(arguments: [
    ("verify", "Verifying", "1 entry of sqlite checked"), ("compact", "Compacting sqlite", "sqlite: removed"),
  ])
  func workIsSeenAndLeavesNothing(command: String, label: String, remark: String) async throws {
    let scratch = try await store()
    let terminal = try PseudoTerminal(columns: 100, rows: 24)
    let program = try RunningProgram(
      Binary.path, [command], in: scratch, environment: ["TERM": "xterm"], errorsTo: terminal.path)
    expectSuccess(try await program.end())
    let text = await terminal.end()
    #expect(text.contains(label), "\(text)")
    var screen = ScreenModel(columns: 100, rows: 24)
    screen.write(text)
    let lines = screen.all.filter { !$0.isEmpty }
    #expect(lines.count == 1 && lines.first?.contains(remark) == true, "\(lines)")
  }

  @Test func theRunningCheckIsShown() async throws {
    let scratch = try Scratch()
    let path = try scratch.install(EngineLibraries.faulty, as: "faulty")
    let terminal = try PseudoTerminal(columns: 120, rows: 24)
    let program = try RunningProgram(
      Binary.path, ["backends", "test", path, "--timeout", LibraryCrashTests.patience], in: scratch,
      environment: ["TERM": "xterm", "FAULT": "hang"], errorsTo: terminal.path)
    let run = try await program.end()
    #expect(run.status == 1)
    let failed = try #require(run.lines.first { $0.hasPrefix("failed ") }?.split(separator: " ").dropFirst().first)
    let text = await terminal.end()
    #expect(text.contains("Testing faulty: \(failed)"), "\(text)")
    var screen = ScreenModel(columns: 120, rows: 24)
    screen.write(text)
    #expect(screen.all.filter { !$0.isEmpty }.count == 1, "Only the counts are left: \(screen.all)")
  }

  @Test(arguments: [["--quiet"], ["--output", "json"]])
  func noProgressIsLeftInQuietOrJSONOutput(options: [String]) async throws {
    let scratch = try await store()
    let terminal = try PseudoTerminal(columns: 100, rows: 24)
    let program = try RunningProgram(
      Binary.path, ["verify"] + options, in: scratch, environment: ["TERM": "xterm"], errorsTo: terminal.path)
    expectSuccess(try await program.end())
    var screen = ScreenModel(columns: 100, rows: 24)
    screen.write(await terminal.end())
    #expect(screen.all.joined().isEmpty, "\(screen.all)")
  }

  /// script(1) gives the tool a terminal, and passes its own input to it.
  @Test(arguments: [("y", 0, 0), ("yes", 0, 0), ("n", 64, 1), ("", 64, 1), ("Yo", 64, 1)])
  func everythingIsRemovedAfterAYesAlone(answer: String, status: Int32, left: Int) async throws {
    let scratch = try await store()
    let line = "printf '\(answer)\\n' | script -qec '\(Binary.path) rm --all' /dev/null"
    let run = try await scratch.run("/bin/sh", ["-c", line], environment: ["TERM": "xterm"])
    #expect(run.status == status, "\(run.text)")
    #expect(run.text.contains(/Remove every entry of sqlite \(1 entry, [0-9.]+ KiB\)\? \[y\/N\]/), "\(run.text)")
    #expect(run.text.contains(left == 0 ? "Removed 1 entry" : "Nothing was removed"), "\(run.text)")
    let entries = try await scratch.cachectl("ls", "--output", "json").document()["entries"]
    #expect(entries?.elements.count == left)
  }

  /// With keys of any length, the listing fits the terminal.
  @Test(arguments: [40, 80, 200])
  func aListingFitsTheTerminal(columns: Int) async throws {
    let scratch = try await store()
    expectSuccess(try await scratch.cachectl("fetch", "movies", "--query", String(repeating: "long ", count: 60)))
    let terminal = try PseudoTerminal(columns: columns, rows: 24)
    let program = try RunningProgram(
      Binary.path, ["ls"], in: scratch, environment: ["TERM": "dumb"], outputTo: terminal.path)
    expectSuccess(try await program.end())
    let lines = await terminal.end().split(whereSeparator: \.isNewline)
    #expect(lines.count >= 3 && lines.allSatisfy { $0.count <= columns }, "\(lines)")
    #expect(lines.contains { $0.contains("…") })
    #expect(lines.contains { $0.contains("sort=desc") && $0.hasPrefix("cities/v1/") }, "\(lines)")
  }
}
