import EngineAPI

@testable import CachectlTool
@testable import EngineBenchmark

/// Results of three backends under two workloads, one of them at three sizes.
enum BenchmarkSample {
  static func row(
    _ backend: String, _ workload: String, phase: String = "run", entries: Int = 1_000, rate: Double, batch: Int = 1
  ) -> BenchmarkResult {
    let time = 1e9 / rate
    let rounds = [1, 0.96, 1.04, 1, 1].map { speed in
      BenchmarkMeasurement.Round(
        operations: Int(rate), seconds: 1 / speed, processorSeconds: 0.9, peakMemoryBytes: 23 << 20,
        storageBytes: entries * 300, referenceSeconds: 0.005)
    }
    let latency = LatencySummary(
      count: UInt64(Int(rate) * rounds.count / batch), mean: UInt64(time), p50: UInt64(time * 0.9),
      p90: UInt64(time * 1.2), p99: UInt64(time * 3), p999: UInt64(time * 12), max: UInt64(time * 400))
    return BenchmarkResult(
      row: .init(backend: backend, workload: workload, phase: phase, entries: entries),
      outcome: .measured(BenchmarkMeasurement(rounds: rounds, latency: latency, histogram: nil)))
  }

  static func row(_ backend: String, _ outcome: BenchmarkResult.Outcome) -> BenchmarkResult {
    BenchmarkResult(
      row: .init(backend: backend, workload: "read", phase: "read", entries: 1_000), outcome: outcome)
  }

  static func report(_ results: [BenchmarkResult], isComplete: Bool = true) -> BenchmarkReport {
    var environment = BenchmarkEnvironment()
    (environment.machine.processor, environment.machine.memoryBytes) = ("Example CPU", 8 << 30)
    environment.engines = [.init(name: "sqlite", version: "3.40.1", hasDurability: true)]
    (environment.rounds, environment.threads, environment.seed) = (5, 1, 42)
    return BenchmarkReport(environment: environment, results: results, isComplete: isComplete)
  }

  static func outcome(_ results: [BenchmarkResult], controls: [String] = []) -> BenchmarkOutcome {
    BenchmarkOutcome(report: report(results), controls: controls)
  }

  static let outcome = outcome([
    row("memory", "ycsb-b", rate: 3_100_000), row("lmdb", "ycsb-b", rate: 1_910_000),
    row("sqlite", "ycsb-b", rate: 228_000),
    row("memory", "read", phase: "read", entries: 1_000, rate: 4_000_000),
    row("memory", "read", phase: "read", entries: 10_000, rate: 3_500_000),
    row("memory", "read", phase: "read", entries: 100_000, rate: 2_900_000),
    row("sqlite", "read", phase: "read", entries: 1_000, rate: 310_000),
    row("sqlite", "read", phase: "read", entries: 10_000, rate: 260_000),
    row("sqlite", "read", phase: "read", entries: 100_000, rate: 210_000),
  ])
}
