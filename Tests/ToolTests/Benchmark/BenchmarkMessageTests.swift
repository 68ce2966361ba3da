import Testing

@testable import CacheComposition
@testable import CachectlTool

/// What the processes of one benchmark tell each other.
struct BenchmarkMessageTests {
  @Test(arguments: [
    BenchmarkMessage.waiting("12.1"),
    .progress(BenchmarkStep(done: 3, total: 40, timeLeft: .seconds(75), item: "lmdb, ycsb-b run, round 2 of 5")),
    .progress(BenchmarkStep(done: 0, total: 1, timeLeft: nil, item: "")),
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

  @Test func aShareIsPassedOn() throws {
    var place = BenchmarkPlace(scratchFolder: "/scratch", runName: "bench-1f", date: .milliseconds(1_700_000_000_123))
    place.share = (2, 3)
    let other = try #require(BenchmarkPlace(shareText: place.shareText, scratchFolder: "/scratch"))
    #expect(other.share?.index == 2 && other.share?.count == 3)
    #expect(other.runName == "bench-1f" && other.date == place.date)
  }

  @Test(arguments: ["", "0/1", "3/3 1 x", "-1/3 1 x", "0/99 1 x", "0/2 x bench", "a/b 1 x"])
  func anythingElseIsNoShare(text: String) {
    #expect(BenchmarkPlace(shareText: text, scratchFolder: "/scratch") == nil)
  }
}
