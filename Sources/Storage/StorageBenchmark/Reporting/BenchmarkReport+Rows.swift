extension BenchmarkReport {
  /// The report as a table, header first: one row per result, times in microseconds, sizes in bytes. Values that were
  /// not measured are empty. Fields are not quoted: writers of formats such as CSV do that.
  public var rows: [[String]] { [Self.header] + results.map(\.fields) }

  private static let header = [
    "backend", "workload", "phase", "entries", "outcome", "rounds", "operations", "seconds", "operationsPerSecond",
    "operationsPerSecondMinimum", "operationsPerSecondMaximum", "operationsPerSecondDeviation", "p50", "p90", "p99",
    "p999", "max", "mean", "storageBytes", "peakMemoryBytes", "processorSeconds", "reason",
  ]
}

extension BenchmarkResult {
  fileprivate var fields: [String] {
    [row.backend, row.workload, row.phase, "\(row.entries)", outcome.name]
      + (measurement?.fields ?? Array(repeating: "", count: BenchmarkMeasurement.fieldCount)) + [outcome.reason ?? ""]
  }
}

extension BenchmarkMeasurement {
  fileprivate static let fieldCount = 16

  fileprivate var fields: [String] {
    let spread: [Double] = throughput.map { [$0.median, $0.minimum, $0.maximum, $0.deviation] } ?? [0, 0, 0, 0]
    let times = [latency.p50, latency.p90, latency.p99, latency.p999, latency.max, latency.mean]
    let figures: [Double] = spread + times.map { Double($0) / 1_000 }
    let sizes = ["\(storageBytes)", peakMemoryBytes.map { "\($0)" } ?? ""]
    return ["\(rounds.count)", "\(operations)", "\(seconds)"] + figures.map { "\($0)" } + sizes + [
      "\(processorSeconds)"
    ]
  }
}
