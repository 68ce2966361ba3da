internal import CachePresentation
internal import ResponseStorage
internal import StorageBenchmark
internal import StorageSPI

extension BenchmarkComparisonView.Row {
  init(_ row: BenchmarkComparison.Row, now: BenchmarkResult?) {
    let shown =
      now.map(BenchmarkRow.init)
      ?? BenchmarkRow(
        backend: row.row.backend, workload: row.row.workload, phase: row.row.phase, entries: row.row.entries,
        outcome: .missing, reason: "only in the saved report")
    self.init(
      shown, BenchmarkComparisonView.Verdict(row.verdict), saved: row.saved, change: row.change, noise: row.noise)
  }
}

extension BenchmarkComparisonView.Verdict {
  fileprivate init(_ verdict: BenchmarkComparison.Verdict) {
    switch verdict {
    case .better: self = .better
    case .same: self = .same
    case .worse: self = .worse
    case .cannotTell: self = .cannotTell
    case .added: self = .added
    case .missing: self = .missing
    }
  }
}

extension BenchmarkRow {
  init(_ result: BenchmarkResult) {
    let row = result.row
    let outcome: Outcome
    switch result.outcome {
    case .measured(let measurement):
      self.init(
        backend: row.backend, workload: row.workload, phase: row.phase, entries: row.entries,
        figures: BenchmarkFigures(measurement))
      return
    case .wrong: outcome = .wrong
    case .failed: outcome = .failed
    case .skipped: outcome = .skipped
    }
    self.init(
      backend: row.backend, workload: row.workload, phase: row.phase, entries: row.entries, outcome: outcome,
      reason: result.outcome.reason)
  }
}

extension BenchmarkFigures {
  fileprivate init(_ measurement: BenchmarkMeasurement) {
    let (latency, throughput) = (measurement.latency, measurement.throughput)
    self.init(
      operations: measurement.operations, seconds: measurement.seconds,
      throughput: Throughput(
        median: throughput?.median ?? 0, lowest: throughput?.minimum ?? 0, highest: throughput?.maximum ?? 0),
      operationsPerCall: measurement.operationsPerCall,
      latency: Latency(
        p50: Self.microseconds(latency.p50), p90: Self.microseconds(latency.p90), p99: Self.microseconds(latency.p99),
        p999: Self.microseconds(latency.p999), max: Self.microseconds(latency.max)),
      storageBytes: measurement.storageBytes, peakMemoryBytes: measurement.peakMemoryBytes,
      processorSeconds: measurement.processorSeconds)
  }

  private static func microseconds(_ nanoseconds: UInt64) -> Double { Double(nanoseconds) / 1_000 }
}

extension BenchmarkEnvironment {
  /// The members of the document, the most interesting first.
  var members: [JSONValue.Member] {
    let program = ["program", "build"].map { JSONValue.Member($0, JSONValue(facts[$0])) }
    return [.init("date", JSONValue(time: date.sinceEpoch))] + program + machine.members + [
      .init("engines", .array(engines.map(\.json))), .init("durability", .string(durability.rawValue)),
      .init("rounds", .integer(rounds)), .init("warmUpRounds", .integer(warmUpRounds)),
      .init("threads", .integer(threads)), .init("processes", .integer(processes)),
      // A seed can exceed what JSON readers accept as a whole number.
      .init("seed", .string(String(seed))), .init("targetRate", targetRate.map(JSONValue.double) ?? .null),
    ]
  }
}

extension BenchmarkEnvironment.Engine {
  fileprivate var json: JSONValue {
    ["name": .string(name), "version": .string(version), "hasDurability": .boolean(hasDurability)]
  }
}

extension BenchmarkMachine {
  fileprivate var members: [JSONValue.Member] {
    [
      .init("processor", .string(processor)), .init("processors", .integer(processors)),
      .init("memoryBytes", .integer(memoryBytes)), .init("kernel", .string(kernel)),
      .init("fileSystem", .string(fileSystem)),
    ]
  }
}
