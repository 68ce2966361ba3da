import Foundation
import Testing

/// What is wrong with a benchmark is found before it begins.
@Suite struct BenchMistakeTests {
  @Test(
    arguments: [
      (["--workload", "raed"], ["raed", "read"]), (["--backends", "sqlit"], ["sqlit", "sqlite"]),
      (["--backends", "sqlite,,lmdb"], ["--backends"]),
      (["--entries", "0"], ["--entries"]), (["--entries", "1k,x"], ["--entries", "1k"]),
      (["--entries", "200M"], ["--entries"]), (["--operations", "0"], ["--operations"]),
      (["--value-size", "big"], ["--value-size"]), (["--value-size", "1GiB"], ["--value-size"]),
      (["--threads", "0"], ["--threads"]), (["--threads", "257"], ["--threads"]),
      (["--processes", "33"], ["--processes"]), (["--rounds", "0"], ["--rounds"]), (["--seed", "-1"], ["--seed"]),
      (["--rate", "0"], ["--rate"]), (["--durability", "ful"], ["ful", "full"]),
      (["--report", "x", "--save", "x"], ["--report", "--save"]), (["extra"], ["extra"]),
    ] as [([String], [String])])
  func commandLines(arguments: [String], words: [String]) async throws {
    let scratch = try Scratch()
    expectFailure(try await scratch.cachectl(["bench"] + arguments), status: 64, mentioning: words)
    scratch.expectNothingLeft()
  }

  @Test(
    arguments: [
      ("{\n  \"name\": \"x\",\n  \"sumary\": \"y\"\n}", ["own.json:3:3", "sumary", "summary"]),
      ("{", ["own.json:1"]),
      (
        "{\"name\": \"x\", \"summary\": \"y\",\n \"phases\": [{\"name\": \"a\", \"kind\": \"lod\"}]}",
        ["own.json:2", "lod", "load"]
      ),
      (
        "{\"name\": \"x\", \"summary\": \"y\", \"entries\": 0, \"phases\": []}", ["own.json:1", "entries"]
      ),
    ] as [(String, [String])])
  func workloadFiles(text: String, words: [String]) async throws {
    let scratch = try Scratch()
    try scratch.write(text, to: "own.json")
    let run = try await scratch.cachectl("bench", "--workload", scratch.path("own.json"))
    expectFailure(run, status: 65, mentioning: words)
    scratch.expectNothingLeft()
  }

  @Test(arguments: ["--report", "--save", "--compare", "--workload"])
  func filesThatAreNotThere(option: String) async throws {
    let scratch = try Scratch()
    let run = try await scratch.cachectl("bench", option, scratch.path("no/where.json"))
    expectFailure(run, status: 74, mentioning: [scratch.path("no/where.json")])
    scratch.expectNothingLeft()
  }

  @Test(arguments: ["--report", "--save"])
  func aFolderIsNoFile(option: String) async throws {
    let scratch = try Scratch()
    expectFailure(try await scratch.cachectl("bench", option, scratch.path("user")), status: 74)
    scratch.expectNothingLeft()
  }

  @Test(arguments: [("{}", "own.json:1"), ("[1,", "own.json:1"), ("{\"version\": 99}", "newer")])
  func reportsThatAreNone(text: String, word: String) async throws {
    let scratch = try Scratch()
    try scratch.write(text, to: "own.json")
    let run = try await scratch.cachectl("bench", "--compare", scratch.path("own.json"))
    expectFailure(run, status: 65, mentioning: [word])
  }

  @Test func aLibraryHasToBeThere() async throws {
    let scratch = try Scratch()
    let run = try await scratch.cachectl("bench", "--backends", "memory,./libcachectl-none.so")
    expectFailure(run, status: 78, mentioning: ["libcachectl-none.so"])
    scratch.expectNothingLeft()
  }

  @Test func theConfigurationIsChecked() async throws {
    let scratch = try Scratch()
    try scratch.write(#"{"backends": {"lmdb": {"mapSize": "1B"}}}"#, to: "config.json")
    let run = try await scratch.cachectl("bench", "--config", scratch.path("config.json"))
    expectFailure(run, status: 78, mentioning: ["mapSize"])
    scratch.expectNothingLeft()
  }
}
