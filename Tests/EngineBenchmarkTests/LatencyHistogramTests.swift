import SeededNumbers
import Testing

@testable import EngineBenchmark

struct LatencyHistogramTests {
  @Test func anEmptyHistogramHasNoValues() {
    let histogram = LatencyHistogram()
    #expect(histogram.count == 0 && histogram.maximum == 0)
    #expect(histogram.percentile(50) == 0)
  }

  @Test(arguments: [0, 1, 127, 128, 255, 256, 257, 511, 512, 1_000, 65_535, 65_536, 1 << 41, 1 << 42 - 1] as [UInt64])
  func aBucketHoldsItsValueAndIsNarrow(value: UInt64) {
    let index = LatencyHistogram.bucket(of: value)
    let (least, greatest) = (LatencyHistogram.leastValue(in: index), LatencyHistogram.greatestValue(in: index))
    #expect((least...greatest).contains(value))
    #expect(Double(greatest - least) < max(1, Double(least)) * LatencyHistogram.relativeError)
  }

  @Test func bucketsFollowEachOtherWithoutGapAndOverlap() {
    for index in 0..<LatencyHistogram.bucketCount - 1 {
      #expect(LatencyHistogram.greatestValue(in: index) + 1 == LatencyHistogram.leastValue(in: index + 1))
      #expect(LatencyHistogram.bucket(of: LatencyHistogram.leastValue(in: index)) == index)
      #expect(LatencyHistogram.bucket(of: LatencyHistogram.greatestValue(in: index)) == index)
    }
  }

  @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
  func percentilesMatchTheSortedValuesWithinTheError(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var histogram = LatencyHistogram()
    var values: [UInt64] = []
    for _ in 0..<(1 + Int.random(in: 0..<5_000, using: &random)) {
      let value = random.next() >> UInt64.random(in: 23...63, using: &random)
      values.append(value)
      histogram.record(value)
    }
    values.sort()
    #expect(histogram.maximum == values[values.count - 1], "seed \(seed)")
    #expect(histogram.count == UInt64(values.count), "seed \(seed)")
    for percentage in [0, 0.1, 1, 10, 25, 50, 75, 90, 99, 99.9, 99.99, 100] {
      let rank = max(1, Int((Double(values.count) * percentage / 100).rounded(.up)))
      let (exact, found) = (values[rank - 1], histogram.percentile(percentage))
      #expect(found >= exact, "seed \(seed), percentile \(percentage)")
      #expect(Double(found - exact) <= Double(exact) * LatencyHistogram.relativeError, "seed \(seed), \(percentage)")
    }
  }

  @Test(arguments: [50.0, 90, 99, 99.9, 100])
  func percentilesOfAThousandMicroseconds(percentage: Double) {
    var histogram = LatencyHistogram()
    for microsecond in 1...1_000 as ClosedRange<UInt64> { histogram.record(microsecond * 1_000) }
    let exact = UInt64(percentage * 10_000)
    let found = histogram.percentile(percentage)
    #expect(found >= exact && Double(found - exact) < Double(exact) * LatencyHistogram.relativeError)
    #expect(LatencyHistogram(buckets: histogram.buckets, maximum: 1_000_000) == histogram)
  }

  @Test(arguments: [7, 8] as [UInt64])
  func mergedHistogramsEqualTheHistogramOfAllValues(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (left, right, all) = (LatencyHistogram(), LatencyHistogram(), LatencyHistogram())
    for _ in 0..<1_000 {
      let value = random.next() >> 34
      if random.isOne(in: 3) { left.record(value) } else { right.record(value) }
      all.record(value)
    }
    left.merge(right)
    #expect(left == all, "seed \(seed)")
    left.merge(LatencyHistogram())
    #expect(left == all, "seed \(seed)")
  }

  @Test func latenciesBeyondTheRangeCountAsTheLongest() {
    var histogram = LatencyHistogram()
    histogram.record(UInt64.max / 2)
    #expect(histogram.percentile(50) == LatencyHistogram.maximumValue || histogram.percentile(50) == UInt64.max / 2)
    #expect(histogram.maximum == UInt64.max / 2 && histogram.count == 1)
  }
}
