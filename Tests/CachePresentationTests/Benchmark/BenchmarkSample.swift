@testable import CachePresentation

/// Results of three backends under two workloads, one of them at three sizes.
enum BenchmarkSample {
  static func row(
    _ backend: String, _ workload: String, phase: String = "run", entries: Int = 1_000, rate: Double, batch: Int = 1
  ) -> BenchmarkRow {
    let time = 1e6 / rate
    return BenchmarkRow(
      backend: backend, workload: workload, phase: phase, entries: entries,
      figures: BenchmarkFigures(
        operations: 5_000, seconds: 5_000 / rate,
        throughput: .init(median: rate, lowest: rate * 0.96, highest: rate * 1.04),
        operationsPerCall: batch,
        latency: .init(p50: time * 0.9, p90: time * 1.2, p99: time * 3, p999: time * 12, max: time * 400),
        storageBytes: entries * 300, peakMemoryBytes: 23 << 20, processorSeconds: 4_500 / rate))
  }

  static func row(_ backend: String, _ outcome: BenchmarkRow.Outcome, _ reason: String) -> BenchmarkRow {
    BenchmarkRow(
      backend: backend, workload: "read", phase: "read", entries: 1_000, outcome: outcome, reason: reason)
  }

  static let view = BenchmarkView(
    environment: [
      .init("processor", "Example CPU"), .init("memoryBytes", .integer(8 << 30)),
      .init("engines", [["name": "sqlite", "version": "3.40.1"], ["name": "memory", "hasDurability": false]]),
      .init("durability", "normal"), .init("rounds", 5),
      .init("threads", 1), .init("seed", 42),
    ],
    rows: [
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
