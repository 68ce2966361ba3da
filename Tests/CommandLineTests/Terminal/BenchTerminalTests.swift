import Foundation
import Testing

/// The output of a benchmark on a terminal, while it runs and at its end.
@Suite(.timeLimit(.minutes(30))) struct BenchTerminalTests {
  private static let arguments = [
    "bench", "--backends", "sqlite,lmdb,memory", "--workload", "ycsb-b", "--entries", "20", "--operations", "100",
    "--rounds", "2",
  ]

  @Test func progressIsSeenAndLeavesNothing() async throws {
    let scratch = try Scratch()
    let terminal = try PseudoTerminal(columns: 100, rows: 24)
    let program = try RunningProgram(
      Binary.path, Self.arguments, in: scratch, environment: ["TERM": "xterm"], errorsTo: terminal.path)
    expectSuccess(try await program.end())
    let text = await terminal.end()
    for word in ["sqlite, ycsb-b load, warming up", "lmdb, ycsb-b run, round 2 of 2", " left"] {
      #expect(text.contains(word), "\(text)")
    }
    var screen = ScreenModel(columns: 100, rows: 24)
    screen.write(text)
    #expect(!screen.all.joined().contains("round 2 of"), "\(screen.all)")
    #expect(screen.all.last?.contains("durability normal") == true, "\(screen.all)")
  }

  @Test(arguments: [80, 120, 160])
  func theTableFitsTheTerminal(columns: Int) async throws {
    let scratch = try Scratch()
    let terminal = try PseudoTerminal(columns: columns, rows: 50)
    let program = try RunningProgram(
      Binary.path, Self.arguments, in: scratch, environment: ["TERM": "xterm"], outputTo: terminal.path)
    expectSuccess(try await program.end())
    var screen = ScreenModel(columns: columns, rows: 50)
    screen.write(await terminal.end())
    let lines = screen.all.filter { !$0.isEmpty }
    let leavesOut = columns < 160
    #expect(lines.count == (leavesOut ? 9 : 8), "Nothing has wrapped, a note on batches included: \(lines)")
    #expect(lines.contains { $0.hasPrefix("Too narrow to show: ") && $0.hasSuffix("Memory") } == leavesOut, "\(lines)")
    #expect(!lines.joined().contains("…") && lines[0].contains("Ratio") && lines[0].contains("p99"), "\(lines)")
    #expect(lines.joined().contains("█") && lines.joined().contains("*"))
    #expect(lines[0].contains("Memory") != leavesOut)
  }
}
