import EngineAPI
import Testing

@testable import CachectlTool
@testable import CacheConfiguration
@testable import EngineBenchmark

/// What the processes of one benchmark tell each other.
struct BenchmarkMessageTests {
  @Test(arguments: [
    BenchmarkMessage.waiting("12.1"),
    .progress(BenchmarkProgress(completed: 3, total: 40, secondsLeft: 7.5, item: "lmdb, ycsb-b run, round 2 of 5")),
    .progress(BenchmarkProgress(completed: 0, total: 1, secondsLeft: nil, item: "")),
  ])
  func messagesArriveAsTheyWere(message: BenchmarkMessage) {
    #expect(message.line.last == "\n")
    #expect(BenchmarkMessage(line: Array(message.line.dropLast().utf8)) == message)
  }

  @Test(arguments: ["", "hello", "waiting", "progress\t1\t2", "progress\tx\t2\t-\titem"])
  func anythingElseIsNone(line: String) { #expect(BenchmarkMessage(line: Array(line.utf8)) == nil) }

  @Test(arguments: [("2.0", "10.0", true), ("10.0", "2.0", false), ("3.1", "3.2", true), ("3.1", "3.1", false)])
  func pointsAreInTheOrderOfTheRun(left: String, right: String, isOrdered: Bool) {
    #expect(BenchmarkMessage.isOrdered(left, right) == isOrdered)
  }

  @Test func aShareIsPassedOn() {
    var (options, others) = (BenchmarkOptions(), BenchmarkOptions())
    (options.scratchFolder, options.runName) = ("/scratch of/this run", "bench-1f")
    (options.date, options.share) = (Timestamp(milliseconds: 1_700_000_000_123), BenchmarkShare(index: 2, count: 3))
    let hasJoined = others.join(options.shareText)
    #expect(hasJoined && others.share == options.share && others.scratchFolder == options.scratchFolder)
    #expect(others.runName == "bench-1f" && others.date == options.date)
  }

  @Test(arguments: ["", "0 1 1 x", "3 3 1 x /s", "-1 3 1 x /s", "0 99 1 x /s", "0 2 x bench /s", "a b 1 x /s"])
  func anythingElseIsNoShare(text: String) {
    var options = BenchmarkOptions()
    let hasJoined = options.join(text)
    #expect(!hasJoined && options.share == nil)
  }
}
