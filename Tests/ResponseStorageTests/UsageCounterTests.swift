import Testing

@testable import ResponseStorage

struct UsageCounterTests {
  @Test func countsAreTakenOnce() {
    let counter = UsageCounter()
    for hit in [true, true, false] { counter.record(hit: hit) }
    #expect(counter.take() == UsageCounts(hits: 2, misses: 1))
    #expect(counter.take() == UsageCounts())
    counter.record(hit: false)
    #expect(counter.take() == UsageCounts(misses: 1))
  }

  @Test func nothingIsLostWhereManyCountAndTakeAtOnce() async {
    let counter = UsageCounter()
    let taken = await withTaskGroup(of: UsageCounts.self) { group in
      for task in 0..<16 {
        group.addTask {
          for _ in 0..<500 { counter.record(hit: task.isMultiple(of: 4)) }
          return counter.take()
        }
      }
      return await group.reduce(UsageCounts(), +)
    }
    #expect(taken + counter.take() == UsageCounts(hits: 2_000, misses: 6_000))
  }

  @Test(arguments: [
    (UsageCounts(), UsageCounts(), UsageCounts()),
    (
      UsageCounts(hits: 1, misses: 2, evictions: 3), UsageCounts(hits: 10, misses: 20, evictions: 30),
      UsageCounts(hits: 11, misses: 22, evictions: 33)
    ),
    (
      UsageCounts(hits: .max, misses: .max - 1, evictions: 0), UsageCounts(hits: 1, misses: 1, evictions: .max),
      UsageCounts(hits: .max, misses: .max, evictions: .max)
    ),
  ])
  func sumsStopAtTheLargestNumber(left: UsageCounts, right: UsageCounts, sum: UsageCounts) {
    #expect(left + right == sum)
    #expect(right + left == sum)
  }
}
