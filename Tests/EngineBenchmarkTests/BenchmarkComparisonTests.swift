import EngineAPI
import Testing

@testable import EngineBenchmark

struct BenchmarkComparisonTests {
  private typealias Reports = BenchmarkReportTests

  /// Five rounds around `middle` whose slowest and fastest are a hundredth away from it.
  private static func rounds(_ middle: Double) -> [Double] { [1, 0.99, 1.01, 0.995, 1.005].map { $0 * middle } }

  /// The throughputs of both runs, how long the reference work took in both (in milliseconds), and the verdict.
  @Test(
    arguments: [
      // Two runs of one program, in which only the machine changed: the rounds alone were rated as better and worse.
      (rounds(100), rounds(119), [5.0], [4.2], .cannotTell), (rounds(100), rounds(56), [5.0], [9.0], .cannotTell),
      (rounds(100), rounds(119), [5.0], [5.0], .better), (rounds(100), rounds(56), [5.0], [5.0], .worse),
      // A machine that was slow from time to time in one run, or as slow in both.
      (rounds(100), rounds(56), [5.0], [5, 5, 9, 5, 5], .cannotTell),
      (rounds(100), rounds(56), [9.0], [9.0], .worse), (rounds(100), rounds(10), [5.0], [8.5], .worse),
      // Below 5 %, and equal.
      (rounds(100), rounds(100), [5.0], [5.0], .cannotTell), (rounds(100), rounds(104), [5.0], [5.0], .cannotTell),
      // Rounds that overlap, and rounds that do not.
      ([90, 95, 100, 105, 130], [120, 125, 130, 135, 140], [5.0], [5.0], .cannotTell),
      ([90, 95, 100, 105, 110], [190, 195, 200, 205, 210], [5.0], [5.0], .better),
      // Of ten rounds the slowest may go wrong, of five none.
      (rounds(100) + [100, 100, 100, 100, 20], rounds(80) + rounds(80), [5.0], [5.0], .worse),
      ([100, 101, 99, 100, 20], rounds(80), [5.0], [5.0], .cannotTell),
    ] as [([Double], [Double], [Double], [Double], BenchmarkComparison.Verdict)])
  func aVerdictIsBeyondTheNoise(
    saved: [Double], now: [Double], savedReference: [Double], reference: [Double], verdict: BenchmarkComparison.Verdict
  ) throws {
    let comparison = BenchmarkComparison(
      saved: Reports.report([Reports.result("a", saved, reference: savedReference)]),
      now: Reports.report([Reports.result("a", now, reference: reference)]))
    let row = try #require(comparison.rows.first)
    #expect(row.verdict == verdict, "\(row)")
    #expect(comparison.isWorse == (verdict == .worse) && !comparison.hasUnknownNoise)
    #expect(row.saved == Spread(saved)?.median && row.now == Spread(now)?.median)
    #expect(row.noise ?? 0 > BenchmarkComparison.smallestNoise - 1e-9)
  }

  @Test(arguments: [rounds(100), [90, 95, 100, 105, 130], [20, 100, 101, 102, 500]])
  func fiveRoundsAgainstThemselvesAreNeitherBetterNorWorse(rounds: [Double]) {
    let report = Reports.report([Reports.result("a", rounds), Reports.result("b", rounds)])
    let comparison = BenchmarkComparison(saved: report, now: report)
    #expect(comparison.rows.map(\.verdict) == [.cannotTell, .cannotTell] && !comparison.isWorse)
    #expect(!comparison.hasUnknownNoise)
  }

  @Test(
    arguments: [
      ([100], [1]), ([5, 5, 5, 5, 5], [0, 0, 0, 0, 0]), ([0, 0, 0, 0, 0], [5, 5, 5, 5, 5]),
    ] as [([Double], [Double])])
  func fewRoundsAndRoundsWithoutOperationsHaveNoVerdict(saved: [Double], now: [Double]) {
    let comparison = BenchmarkComparison(
      saved: Reports.report([Reports.result("a", saved)]), now: Reports.report([Reports.result("a", now)]))
    #expect(comparison.rows.map(\.verdict) == [.cannotTell] && !comparison.isWorse)
    #expect(comparison.hasUnknownNoise)
  }

  @Test(
    arguments: [
      (nil, .wrong("x"), .worse), (nil, .skipped("x"), .added), (.skipped("x"), .failed("x"), .worse),
      (.failed("x"), .wrong("x"), .same), (.failed("x"), .skipped("x"), .same), (.skipped("x"), .skipped("x"), .same),
    ] as [(BenchmarkResult.Outcome?, BenchmarkResult.Outcome, BenchmarkComparison.Verdict)])
  func failuresHaveVerdictsToo(
    saved: BenchmarkResult.Outcome?, now: BenchmarkResult.Outcome, verdict: BenchmarkComparison.Verdict
  ) {
    let old = saved.map { [BenchmarkResult(row: Reports.row("a"), outcome: $0)] } ?? []
    let comparison = BenchmarkComparison(
      saved: Reports.report(old),
      now: Reports.report([BenchmarkResult(row: Reports.row("a"), outcome: now)]))
    #expect(comparison.rows.map(\.verdict) == [verdict])
  }

  @Test func aRowThatFailsNowIsWorseAndTheReverseBetter() {
    let measured = Reports.report([Reports.result("a", [100])])
    let failed = Reports.report([BenchmarkResult(row: Reports.row("a"), outcome: .failed("x"))])
    #expect(BenchmarkComparison(saved: measured, now: failed).rows.map(\.verdict) == [.worse])
    #expect(BenchmarkComparison(saved: failed, now: measured).rows.map(\.verdict) == [.better])
  }

  @Test func rowsOfOneReportOnlyAreListed() {
    let comparison = BenchmarkComparison(
      saved: Reports.report([Reports.result("a", [100]), Reports.result("b", [100])]),
      now: Reports.report([Reports.result("b", [100]), Reports.result("c", [100])]))
    #expect(comparison.rows.map(\.row.backend) == ["b", "c", "a"])
    #expect(comparison.rows.map(\.verdict) == [.cannotTell, .added, .missing] && !comparison.isWorse)
    #expect(comparison.differences.isEmpty)
  }

  @Test func differencesBetweenRunsAreNamed() {
    let saved = Reports.report([])
    var now = saved
    now.environment = Reports.environment([
      "threads": 8, "durability": "full", "kernel": "Linux 7", "engines": ["a": "2"],
    ])
    let differences = BenchmarkComparison(saved: saved, now: now).differences
    #expect(differences == ["kernel", "durability", "threads", "engine versions"])
    now.environment = Reports.environment(["engines": ["b": "2"]])
    #expect(BenchmarkComparison(saved: saved, now: now).differences.isEmpty, "Only engines of both runs are compared")
  }

  /// Rows are called alike whatever was done for them.
  @Test func otherWorkIsNamed() {
    let saved = Reports.report([])
    var now = saved
    now.environment = Reports.environment(["valueSize": 1_000, "operations": 10, "build": "debug", "policy": "none"])
    #expect(BenchmarkComparison(saved: saved, now: now).differences == ["build", "operations", "value size", "policy"])
    now.environment = Reports.environment(["program": "cachectl 9"])
    #expect(BenchmarkComparison(saved: saved, now: now).differences.isEmpty, "The versions are compared")
  }
}
