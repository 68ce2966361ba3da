import Foundation
import Testing

/// Mistakes in the options of a benchmark are found before it begins.
@Suite struct BenchMistakeTests {
  @Test(
    arguments: [
      (["--workload", "raed"], ["raed", "read"]), (["--workload", "./own.json"], ["./own.json"]),
      (["--backends", "sqlit"], ["sqlit", "sqlite"]),
      (["--backends", "sqlite,,lmdb"], ["--backends"]),
      (["--entries", "0"], ["--entries"]), (["--entries", "1k,x"], ["--entries", "1k"]),
      (["--entries", "200M"], ["--entries"]), (["--operations", "0"], ["--operations"]),
      (["--value-size", "big"], ["--value-size"]), (["--value-size", "1GiB"], ["--value-size"]),
      (["--threads", "0"], ["--threads"]), (["--threads", "257"], ["--threads"]),
      (["--processes", "33"], ["--processes"]), (["--rounds", "0"], ["--rounds"]), (["--seed", "-1"], ["--seed"]),
      (["--workload", "full", "--policy", "clock"], ["invalid value 'clock'", "s3-fifo"]),
      (["--policy", "s3-fifo"], ["--policy", "--workload full"]),
      (["--durability", "ful"], ["ful", "full"]),
      (["--report", "x", "--save", "x"], ["--report", "--save"]), (["extra"], ["extra"]),
    ] as [([String], [String])])
  func commandLines(arguments: [String], words: [String]) async throws {
    let scratch = try Scratch()
    expectFailure(try await scratch.cachectl(["bench"] + arguments), status: 64, mentioning: words)
    scratch.expectNothingLeft()
  }

  /// Each what own.json says, the arguments with @ for the scratch folder, the status, and words of the error.
  @Test(
    arguments: [
      ("{}", ["--compare", "@own.json"], 65, ["own.json:1"]), ("[1,", ["--compare", "@own.json"], 65, ["own.json:1"]),
      (#"{"version": 99}"#, ["--compare", "@own.json"], 65, ["newer"]),
      ("", ["--report", "@no/where.json"], 74, ["/no/where.json"]), ("", ["--report", "@user"], 74, []),
      ("", ["--save", "@no/where.json"], 74, ["/no/where.json"]), ("", ["--save", "@user"], 74, []),
      ("", ["--compare", "@no/where.json"], 74, ["/no/where.json"]),
      ("", ["--backends", "memory,./libcachectl-none.so"], 78, ["libcachectl-none.so"]),
      (#"{"backends": {"lmdb": {"mapSize": "1B"}}}"#, ["--config", "@own.json"], 78, ["mapSize"]),
    ] as [(String, [String], Int32, [String])])
  func files(text: String, arguments: [String], status: Int32, words: [String]) async throws {
    let scratch = try Scratch()
    try scratch.write(text, to: "own.json")
    let run = try await scratch.cachectl(["bench"] + arguments.map { $0.replacing("@", with: scratch.path("")) })
    expectFailure(run, status: status, mentioning: words)
    scratch.expectNothingLeft()
  }
}
