import Foundation
import SeededNumbers
import Testing

@testable import EngineBenchmark

struct NumberTests {
  /// The first numbers for the seed 1234567 as the authors' program in C prints them.
  @Test func theGeneratorIsThePublishedOne() {
    var random = SeededGenerator(seed: 1_234_567)
    let expected: [UInt64] = [
      6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431,
    ]
    #expect(expected.map { _ in random.next() } == expected)
  }

  @Test func pathsOfOneSeedHaveNothingInCommon() {
    var firsts: Set<UInt64> = []
    for round in 0..<20 as Range<UInt64> {
      for worker in 0..<20 as Range<UInt64> {
        var random = SeededGenerator(seed: 42, path: round, worker)
        firsts.insert(random.next())
      }
    }
    #expect(firsts.count == 400)
  }

  /// The first two are the well-known names of YCSB's first records, user6284781860667377211 and the next.
  @Test(
    arguments: [
      (0, 6_284_781_860_667_377_211), (1, 8_517_097_267_634_966_620), (2, 1_820_151_046_732_198_393),
      (42, 55_488_592_825_689_361), (12_345_678_901, 5_686_546_334_140_306_951),
    ] as [(UInt64, UInt64)])
  func theHashIsThatOfYCSB(number: UInt64, hash: UInt64) { #expect(ScrambledZipfian.hash(number) == hash) }

  @Test(
    arguments: [
      (1, 1.0), (2, 1.5034777750283594), (10, 2.9561075165103636), (100, 5.294568831377164),
      (1_000, 7.728953217284729), (10_000, 10.224361459595578), (100_000, 12.778338062551246),
    ] as [(UInt64, Double)])
  func theSumIsZeta(count: UInt64, zeta: Double) {
    #expect(abs(ZipfianDistribution(count: count).zeta / zeta - 1) < 1e-12)
  }

  /// By the formula of Euler and Maclaurin, because the sum itself has too many terms.
  @Test func theConstantOfYCSBIsZetaOfTenThousandMillion() {
    let (theta, start) = (0.99, 10_000 as UInt64)
    let (first, last) = (Double(start), 1e10)
    var sum = ZipfianDistribution(count: start).zeta
    sum += (pow(last, 1 - theta) - pow(first, 1 - theta)) / (1 - theta)
    sum += (pow(last, -theta) - pow(first, -theta)) / 2
    #expect(abs(sum - ScrambledZipfian.drawnZeta) < 1e-9)
  }

  @Test(arguments: [1, 2, 3, 7, 1_000] as [UInt64])
  func aGrownDistributionIsThatOfItsSize(count: UInt64) {
    var grown = ZipfianDistribution(count: 1)
    for step in 1...count { grown.grow(to: step) }
    let whole = ZipfianDistribution(count: count)
    #expect(abs(grown.zeta - whole.zeta) < 1e-9 && grown.count == whole.count)
    var (left, right) = (SeededGenerator(seed: 5), SeededGenerator(seed: 5))
    for _ in 0..<100 {
      let number = grown.next(&left)
      #expect(number == whole.next(&right) && number < count)
    }
  }

  @Test(arguments: [(100, 1), (1_000, 2), (100_000, 3)] as [(UInt64, UInt64)])
  func zipfianSharesAreThePublishedOnes(count: UInt64, seed: UInt64) {
    let (draws, distribution) = (200_000, ZipfianDistribution(count: count))
    var random = SeededGenerator(seed: seed)
    var counts = [Int](repeating: 0, count: Int(count))
    for _ in 0..<draws { counts[Int(distribution.next(&random))] += 1 }
    // The first two are exact by construction; the others follow an approximation (Gray et al.).
    for number in 0..<2 {
      let share = 1 / pow(Double(number + 1), 0.99) / distribution.zeta
      #expect(isNear(counts[number], draws, share), "seed \(seed), number \(number)")
    }
    let tenth = Int(count / 10)
    let share = ZipfianDistribution(count: UInt64(tenth)).zeta / distribution.zeta
    let found = Double(counts[..<tenth].reduce(0, +)) / Double(draws)
    #expect(abs(found - share) < 0.02, "seed \(seed): \(found) instead of \(share)")
  }

  @Test(arguments: [1_000, 10_000] as [UInt64])
  func theHottestScrambledItemHasItsShare(count: UInt64) {
    let (draws, scrambled) = (300_000, ScrambledZipfian(count: count))
    var random = SeededGenerator(seed: 11)
    var counts = [Int](repeating: 0, count: Int(count))
    for _ in 0..<draws { counts[Int(scrambled.next(&random))] += 1 }
    let hottest = Int(ScrambledZipfian.hash(0) % count)
    #expect(counts.max() == counts[hottest])
    // The tail of ten thousand million falls on every item alike.
    let share = 1 / ScrambledZipfian.drawnZeta
    let found = Double(counts[hottest]) / Double(draws)
    #expect(found > share * 0.97 && found < share + 1 / Double(count) + 0.002)
  }

  @Test func uniformNumbersPassAChiSquareTest() {
    var chooser = KeyChooser(.uniform, count: 100, expected: 100)
    var random = SeededGenerator(seed: 3)
    var counts = [Int](repeating: 0, count: 100)
    for _ in 0..<100_000 { counts[Int(chooser.next(count: 100, &random))] += 1 }
    let chiSquare = counts.reduce(0.0) { $0 + pow(Double($1) - 1_000, 2) / 1_000 }
    // 99 degrees of freedom: between the 0.1 and the 99.9 per cent quantile.
    #expect(chiSquare > 60 && chiSquare < 149)
  }

  @Test func theLatestEntryIsTheHottest() {
    var chooser = KeyChooser(.latest, count: 500, expected: 1_000)
    var random = SeededGenerator(seed: 4)
    var counts = [Int](repeating: 0, count: 1_000)
    for _ in 0..<50_000 {
      let number = Int(chooser.next(count: 1_000, &random))
      counts[number] += 1
    }
    let share = 1 / ZipfianDistribution(count: 1_000).zeta
    #expect(isNear(counts[999], 50_000, share))
    #expect(counts[999] > counts[998] && counts[998] > counts[997] && counts[500...].reduce(0, +) > 45_000)
  }

  @Test(arguments: KeyDistribution.allCases)
  func everyDistributionStaysBelowTheCount(distribution: KeyDistribution) {
    var chooser = KeyChooser(distribution, count: 1, expected: 50)
    var random = SeededGenerator(seed: 6)
    for count in 1...200 as ClosedRange<UInt64> {
      for _ in 0..<20 {
        let number = chooser.next(count: count, &random)
        #expect(number < count)
      }
    }
  }

  @Test func workersBeginASequenceAtDifferentPlaces() {
    var random = SeededGenerator(seed: 1)
    var second = KeyChooser(.sequential, count: 10, expected: 10, worker: 1, workers: 2)
    #expect((0..<7).map { _ in second.next(count: 10, &random) } == [5, 6, 7, 8, 9, 0, 1])
  }

  @Test(arguments: [1, 2, 3, 10, 97, 1_000, 4_096, 9_999] as [UInt64])
  func aPermutationHasEveryNumberOnce(count: UInt64) {
    let order = NumberPermutation(count: count, seed: count)
    #expect(Set((0..<count).map { order[$0] }) == Set(0..<count))
    guard count >= 97 else { return }
    let neighbours = (1..<count).count { order[$0] == order[$0 - 1] + 1 }
    #expect(neighbours < Int(count) / 10)
  }

  /// Whether a count of so many draws is within five standard deviations of its share.
  private func isNear(_ count: Int, _ draws: Int, _ share: Double) -> Bool {
    abs(Double(count) - Double(draws) * share) < 5 * (Double(draws) * share * (1 - share)).squareRoot()
  }
}
