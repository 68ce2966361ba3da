import StorageSPI
import Testing

@testable import StorageBenchmark

struct BenchmarkComparisonTests {
  private typealias Reports = BenchmarkReportTests

  /// Each the throughputs of the saved rounds and of those of now, and the verdict.
  @Test(
    arguments: [
      ([100, 100, 100], [100, 100, 100], .same), ([100, 100, 100], [104, 104, 104], .same),
      ([100, 100, 100], [106, 106, 106], .better), ([100, 100, 100], [96, 96, 96], .same),
      ([100, 100, 100], [94, 94, 94], .worse), ([100, 100, 100], [10, 10, 10], .worse),
      // Noisy rounds: 1.4826 * 10 / 100 * 3 is 0.44 for each of both.
      ([90, 100, 110], [120, 130, 140], .same), ([90, 100, 110], [190, 200, 210], .better),
      ([190, 200, 210], [90, 100, 110], .worse),
      // One round of five that went wrong is no noise.
      ([100, 101, 99, 100, 20], [80, 81, 79, 80, 80], .worse),
      ([100, 101, 99, 100, 20], [100, 100, 101, 300, 99], .same),
    ] as [([Double], [Double], BenchmarkComparison.Verdict)])
  func theVerdictIsBeyondTheNoise(saved: [Double], now: [Double], verdict: BenchmarkComparison.Verdict) throws {
    let comparison = BenchmarkComparison(
      saved: Reports.report([Reports.result("a", saved)]), now: Reports.report([Reports.result("a", now)]))
    let row = try #require(comparison.rows.first)
    #expect(row.verdict == verdict, "\(row)")
    #expect(comparison.isWorse == (verdict == .worse))
    #expect(row.saved == Spread(saved)?.median && row.now == Spread(now)?.median)
    #expect(row.noise ?? 0 >= BenchmarkComparison.smallestNoise)
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
    #expect(comparison.rows.map(\.verdict) == [verdict] && comparison.rows[0].reason == "x")
  }

  @Test func whatWasMeasuredAndFailsNowIsWorseAndTheOtherWayBetter() {
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
    #expect(comparison.rows.map(\.verdict) == [.same, .added, .missing] && !comparison.isWorse)
    #expect(comparison.differences.isEmpty)
  }

  @Test func whatDiffersInTheRunsIsNamed() {
    let saved = Reports.report([])
    var now = saved
    now.environment.threads = 8
    now.environment.durability = .full
    now.environment.machine.kernel = "Linux 7"
    now.environment.engines = [BenchmarkEnvironment.Engine(name: "a", version: "2", hasDurability: true)]
    let differences = BenchmarkComparison(saved: saved, now: now).differences
    #expect(differences == ["kernel", "engine versions", "durability", "threads"])
  }

  /// Rows are called alike whatever was done for them.
  @Test func whatElseWasDoneIsNamed() {
    let saved = Reports.report([])
    var now = saved
    now.environment.facts["valueSize"] = "1000"
    now.environment.facts["operations"] = "10"
    now.environment.facts["build"] = "debug"
    #expect(BenchmarkComparison(saved: saved, now: now).differences == ["build", "operations", "value size"])
    now.environment.facts = saved.environment.facts.merging(["program": "cachectl 9"]) { $1 }
    #expect(BenchmarkComparison(saved: saved, now: now).differences.isEmpty, "Versions are what is compared")
  }

  /// As a phase has that finds nothing to do.
  @Test(
    arguments: [([0, 0], [0, 0], .same), ([0, 0], [5, 5], .better), ([5, 5], [0, 0], .worse)]
      as [([Double], [Double], BenchmarkComparison.Verdict)])
  func aThroughputOfZeroIsOne(saved: [Double], now: [Double], verdict: BenchmarkComparison.Verdict) {
    let comparison = BenchmarkComparison(
      saved: Reports.report([Reports.result("a", saved)]), now: Reports.report([Reports.result("a", now)]))
    #expect(comparison.rows.map(\.verdict) == [verdict] && comparison.isWorse == (verdict == .worse))
  }
}
