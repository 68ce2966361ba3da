import EngineAPI
import Testing

@testable import EngineBenchmark

struct TraceTests {
  @Test(arguments: GeneratedTrace.allCases)
  func theSameSeedGivesTheSameTrace(trace: GeneratedTrace) {
    let (one, same, other) = (trace.trace(), trace.trace(), trace.trace(seed: 2))
    #expect(one.lookUps == same.lookUps && one.lookUps.count >= 490_000)
    #expect((one.lookUps == other.lookUps) == (trace == .loop))
    #expect(one.sizes.allSatisfy { $0 == 1_000 })
    #expect(one.lookUps.allSatisfy { $0 < one.keyCount })
  }

  /// The most popular number comes up as often as its share says.
  @Test(arguments: [0.7, 0.9, 1.1])
  func popularityFallsByTheExponent(exponent: Double) {
    let (count, draws) = (1_000, 200_000)
    let table = ZipfianTable(count, exponent: exponent)
    var random = SeededGenerator(seed: 7)
    var counts = [Int](repeating: 0, count: count)
    for _ in 0..<draws { counts[table.draw(&random)] += 1 }
    let sum = ZipfianDistribution.zeta(from: 0, to: UInt64(count), theta: exponent)
    for number in [0, 1, 9, 99] {
      let term = ZipfianDistribution.zeta(from: UInt64(number), to: UInt64(number) + 1, theta: exponent)
      let expected = Double(draws) * term / sum
      #expect(abs(Double(counts[number]) - expected) < 5 * expected.squareRoot(), "number \(number)")
    }
  }

  @Test func usesBecomeLookUps() throws {
    var record = RecordedTrace()
    record.add(10, uses: 0)
    record.add(20, uses: 3)
    let trace = try record.trace()
    #expect(trace.lookUps.count == 5 && trace.sizes.sorted() == [10, 20])
    #expect(trace.lookUps.count { trace.sizes[Int($0)] == 20 } == 4)
  }

  @Test func aStoreWithoutEntriesHasNoTrace() {
    let error = #expect(throws: CacheError.self) { try RecordedTrace().trace() }
    #expect(error?.code == .notFound)
  }
}
