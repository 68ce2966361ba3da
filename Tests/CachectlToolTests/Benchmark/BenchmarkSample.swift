import CacheBase

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
    // As many calls as the rounds made, in a few buckets: the percentiles are 0.9, 1.2, 3, 12 and 400 times `time`.
    let calls = Int(rate) * rounds.count / batch
    let shares = [(0.9, 0.5), (1.2, 0.4), (3, 0.09), (12, 0.009)]
    var buckets = shares.flatMap { [LatencyHistogram.bucket(of: UInt64(time * $0.0)), Int(Double(calls) * $0.1)] }
    let others = stride(from: 1, to: buckets.count, by: 2).reduce(0) { $0 + buckets[$1] }
    buckets += [LatencyHistogram.bucket(of: UInt64(time * 400)), calls - others]
    let latencies = LatencyHistogram(buckets: buckets, maximum: Int(time * 400)) ?? LatencyHistogram()
    return BenchmarkResult(
      row: .init(backend: backend, workload: workload, phase: phase, entries: entries),
      outcome: .measured(BenchmarkMeasurement(rounds: rounds, latencies: latencies)))
  }

  static func row(_ backend: String, _ outcome: BenchmarkResult.Outcome) -> BenchmarkResult {
    BenchmarkResult(
      row: .init(backend: backend, workload: "read", phase: "read", entries: 1_000), outcome: outcome)
  }

  static func report(_ results: [BenchmarkResult], isComplete: Bool = true, threads: Int = 1) -> BenchmarkReport {
    let environment: JSONValue = [
      "processor": "Example CPU", "memoryBytes": .integer(8 << 30), "engines": ["sqlite": "3.40.1"],
      "durability": "normal", "rounds": 5, "threads": .integer(threads), "seed": "42", "policy": .null,
    ]
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
