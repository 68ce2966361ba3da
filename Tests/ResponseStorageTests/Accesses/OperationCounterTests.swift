import Testing

@testable import CacheCore

struct OperationCounterTests {
  @Test func countsAreTakenOnce() {
    let counter = OperationCounter()
    for hit in [true, true, false] { counter.record(hit: hit) }
    #expect(counter.take() == OperationCounts(hits: 2, misses: 1))
    #expect(counter.take() == OperationCounts())
    counter.record(hit: false)
    #expect(counter.take() == OperationCounts(misses: 1))
  }

  @Test func nothingIsLostWhereManyCountAndTakeAtOnce() async {
    let counter = OperationCounter()
    let taken = await withTaskGroup(of: OperationCounts.self) { group in
      for task in 0..<16 {
        group.addTask {
          for _ in 0..<500 { counter.record(hit: task.isMultiple(of: 4)) }
          return counter.take()
        }
      }
      return await group.reduce(OperationCounts(), +)
    }
    #expect(taken + counter.take() == OperationCounts(hits: 2_000, misses: 6_000))
  }

  @Test(arguments: [
    (OperationCounts(), OperationCounts(), OperationCounts()),
    (
      OperationCounts(hits: 1, misses: 2, evictions: 3), OperationCounts(hits: 10, misses: 20, evictions: 30),
      OperationCounts(hits: 11, misses: 22, evictions: 33)
    ),
    (
      OperationCounts(hits: .max, misses: .max - 1, evictions: 0), OperationCounts(hits: 1, misses: 1, evictions: .max),
      OperationCounts(hits: .max, misses: .max, evictions: .max)
    ),
  ])
  func sumsStopAtTheLargestNumber(left: OperationCounts, right: OperationCounts, sum: OperationCounts) {
    #expect(left + right == sum)
    #expect(right + left == sum)
  }
}
