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
    for round in 0..<20 {
      for worker in 0..<20 {
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
  func theHashIsTheHashOfYCSB(number: UInt64, hash: UInt64) { #expect(KeyChooser.hash(number) == hash) }

  /// The first terms one by one, and the others by the formula of Euler and Maclaurin, because there are too many.
  @Test func theConstantOfYCSBIsZetaOfTenThousandMillion() {
    let theta = ZipfianDistribution.theta
    let (first, last) = (10_000.0, ZipfianDistribution.count)
    var sum = (1...10_000).reduce(0.0) { $0 + 1 / pow(Double($1), theta) }
    #expect(abs(sum / 10.224361459595578 - 1) < 1e-12)
    sum += (pow(last, 1 - theta) - pow(first, 1 - theta)) / (1 - theta)
    sum += (pow(last, -theta) - pow(first, -theta)) / 2
    #expect(abs(sum - ZipfianDistribution.zeta) < 1e-9)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func zipfianSharesAreThePublishedOnes(seed: UInt64) {
    let (draws, distribution) = (200_000, ZipfianDistribution())
    var random = SeededGenerator(seed: seed)
    let numbers = (0..<draws).map { _ in distribution.next(&random) }
    // The first two are exact by construction; the others follow an approximation (Gray et al.).
    for number in 0..<2 as Range<UInt64> {
      let share = 1 / pow(Double(number + 1), 0.99) / ZipfianDistribution.zeta
      #expect(isNear(numbers.count { $0 == number }, draws, share), "seed \(seed), number \(number)")
    }
    let share = 10.224361459595578 / ZipfianDistribution.zeta
    let found = Double(numbers.count { $0 < 10_000 }) / Double(draws)
    #expect(abs(found - share) < 0.02, "seed \(seed): \(found) instead of \(share)")
    #expect(numbers.allSatisfy { Double($0) < ZipfianDistribution.count })
  }

  @Test(arguments: [1_000, 10_000])
  func theHottestEntryHasItsShare(count: Int) {
    let (draws, chooser) = (300_000, KeyChooser(count: count, isZipfian: true))
    var random = SeededGenerator(seed: 11)
    var counts = [Int](repeating: 0, count: count)
    for _ in 0..<draws { counts[chooser.next(&random)] += 1 }
    let hottest = Int(KeyChooser.hash(0) % UInt64(count))
    #expect(counts.max() == counts[hottest])
    // The tail of ten thousand million falls on every entry alike.
    let share = 1 / ZipfianDistribution.zeta
    let found = Double(counts[hottest]) / Double(draws)
    #expect(found > share * 0.97 && found < share + 1 / Double(count) + 0.002)
  }

  @Test func uniformNumbersPassAChiSquareTest() {
    let chooser = KeyChooser(count: 100, isZipfian: false)
    var random = SeededGenerator(seed: 3)
    var counts = [Int](repeating: 0, count: 100)
    for _ in 0..<100_000 { counts[chooser.next(&random)] += 1 }
    let chiSquare = counts.reduce(0.0) { $0 + pow(Double($1) - 1_000, 2) / 1_000 }
    // 99 degrees of freedom: between the 0.1 and the 99.9 per cent quantile.
    #expect(chiSquare > 60 && chiSquare < 149)
  }

  @Test(arguments: [false, true])
  func everyChoiceIsBelowTheCount(isZipfian: Bool) {
    var random = SeededGenerator(seed: 6)
    for count in 1...200 {
      let chooser = KeyChooser(count: count, isZipfian: isZipfian)
      #expect((0..<20).allSatisfy { _ in (0..<count).contains(chooser.next(&random)) })
    }
  }

  @Test(arguments: [1, 2, 3, 10, 97, 1_000, 4_096, 9_999])
  func aPermutationHasEveryNumberOnce(count: Int) {
    let order = NumberPermutation(count: count, seed: UInt64(count))
    #expect(Set((0..<count).map { order[$0] }) == Set(0..<count))
    guard count >= 97 else { return }
    let neighbours = (1..<count).count { order[$0] == order[$0 - 1] + 1 }
    #expect(neighbours < count / 10)
  }

  /// Whether a count of so many draws is within five standard deviations of its share.
  private func isNear(_ count: Int, _ draws: Int, _ share: Double) -> Bool {
    abs(Double(count) - Double(draws) * share) < 5 * (Double(draws) * share * (1 - share)).squareRoot()
  }
}
