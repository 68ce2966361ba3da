import EngineAPI
import Testing

@testable import CachectlTool
@testable import CacheConfiguration
@testable import EngineBenchmark

/// What the processes of one benchmark tell each other.
struct BenchmarkMessageTests {
  @Test func progressArrivesUnchanged() {
    let progress = BenchmarkProgress(phase: 3, total: 40, item: "lmdb, ycsb-b run, round 2 of 5")
    #expect(progress.line.last == "\n")
    #expect(BenchmarkProgress(line: Array(progress.line.dropLast().utf8)) == progress)
  }

  @Test(arguments: ["", "hello", "1\t2", "x\t2\titem", "1\tx\titem", "1\t2\titem\t3"])
  func anythingElseIsNone(line: String) { #expect(BenchmarkProgress(line: Array(line.utf8)) == nil) }

  @Test func aShareIsPassedOn() {
    var (options, others) = (BenchmarkOptions(), BenchmarkOptions())
    (options.scratchFolder, options.runName) = ("/scratch of/this run", "bench-1f")
    (options.date, options.process) = (Timestamp(milliseconds: 1_700_000_000_123), 2)
    others.processes = 3
    let hasJoined = others.join(options.shareText)
    #expect(hasJoined && others.process == 2 && others.scratchFolder == options.scratchFolder)
    #expect(others.runName == "bench-1f" && others.date == options.date)
  }

  @Test(arguments: ["", "0 1 x", "3 1 x /s", "-1 1 x /s", "0 x bench /s", "a 1 x /s"])
  func anythingElseIsNoShare(text: String) {
    var options = BenchmarkOptions()
    options.processes = 3
    let hasJoined = options.join(text)
    #expect(!hasJoined && options.runName.isEmpty)
  }
}
