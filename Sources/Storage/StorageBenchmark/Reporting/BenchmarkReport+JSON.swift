internal import StorageSPI

extension BenchmarkReport {
  /// The version of the format. Readers refuse higher versions.
  static let formatVersion = 1

  /// The report as one JSON document in UTF-8, with a line feed at its end. `BenchmarkReportReader` reads it back.
  ///
  /// - Parameter includingHistograms: whether to include the full latencies, which merging needs and which make the
  ///   report large.
  public func json(includingHistograms: Bool = false) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("version", Self.formatVersion)
      writer.member("complete", isComplete)
      writer.object("environment") { environment.write(to: &$0) }
      writer.list("results", results) { writer, result in
        writer.object { result.write(to: &$0, includingHistograms: includingHistograms) }
      }
    }
    return writer.bytes + [UInt8(ascii: "\n")]
  }
}

extension BenchmarkEnvironment {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("date", date.text)
    writer.member("processor", machine.processor)
    writer.member("processors", machine.processors)
    writer.member("memoryBytes", machine.memoryBytes)
    writer.member("kernel", machine.kernel)
    writer.member("fileSystem", machine.fileSystem)
    writer.list("engines", engines) { writer, engine in
      writer.object { writer in
        writer.member("name", engine.name)
        writer.member("version", engine.version)
        writer.member("hasDurability", engine.hasDurability)
      }
    }
    writer.member("durability", durability.rawValue)
    // A seed can exceed what other JSON readers accept as a whole number.
    writer.member("seed", String(seed))
    writer.member("threads", threads)
    writer.member("processes", processes)
    writer.member("rounds", rounds)
    writer.member("warmUpRounds", warmUpRounds)
    writer.member("targetRate", number: targetRate)
    writer.object("facts") { writer in
      for (name, value) in facts.sorted(by: { $0.key < $1.key }) { writer.member(name, value) }
    }
  }
}

extension BenchmarkResult {
  fileprivate func write(to writer: inout JSONWriter, includingHistograms: Bool) {
    writer.member("backend", row.backend)
    writer.member("workload", row.workload)
    writer.member("phase", row.phase)
    writer.member("entries", row.entries)
    writer.member("outcome", outcome.name)
    writer.member("correct", !isFailure)
    if let reason = outcome.reason { writer.member("reason", reason) }
    guard let measurement else { return Self.writeAbsence(to: &writer) }
    measurement.write(to: &writer)
    guard includingHistograms, let histogram = measurement.histogram else { return }
    writer.object("latencyHistogram") { histogram.write(to: &$0) }
  }

  /// Writes null in place of the figures.
  private static func writeAbsence(to writer: inout JSONWriter) {
    let keys = [
      "operations", "seconds", "operationsPerSecond", "operationsPerCall", "latencyMicroseconds", "storageBytes",
    ]
    for key in keys { writer.member(key, number: nil) }
    writer.member("peakMemoryBytes", number: nil)
  }
}

extension BenchmarkResult.Outcome {
  /// The outcome in a word: "measured", "wrong", "failed" or "skipped".
  public var name: String {
    switch self {
    case .measured: "measured"
    case .wrong: "wrong"
    case .failed: "failed"
    case .skipped: "skipped"
    }
  }

  /// Why there are no figures, in one line; `nil` if there are.
  public var reason: String? {
    switch self {
    case .measured: nil
    case .wrong(let reason), .failed(let reason), .skipped(let reason): reason
    }
  }
}

extension BenchmarkMeasurement {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("operations", operations)
    writer.member("seconds", number: seconds)
    writer.member("operationsPerSecond", number: throughput?.median)
    writer.object("operationsPerSecondSpread") { writer in
      writer.member("minimum", number: throughput?.minimum)
      writer.member("maximum", number: throughput?.maximum)
      writer.member("medianAbsoluteDeviation", number: throughput?.deviation)
    }
    writer.member("operationsPerCall", operationsPerCall)
    writer.object("latencyMicroseconds") { latency.write(to: &$0) }
    writer.member("storageBytes", storageBytes)
    writer.member("peakMemoryBytes", peakMemoryBytes)
    writer.member("processorSeconds", number: processorSeconds)
    writer.list("rounds", rounds) { writer, round in writer.object { round.write(to: &$0) } }
  }
}

extension BenchmarkMeasurement.Round {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("operations", operations)
    writer.member("seconds", number: seconds)
    writer.member("operationsPerSecond", number: operationsPerSecond)
    writer.member("processorSeconds", number: processorSeconds)
    writer.member("referenceSeconds", number: referenceSeconds)
    writer.member("storageBytes", storageBytes)
    writer.member("peakMemoryBytes", peakMemoryBytes)
  }
}

extension LatencySummary {
  fileprivate func write(to writer: inout JSONWriter) {
    for (key, nanoseconds) in [("p50", p50), ("p90", p90), ("p99", p99), ("p999", p999), ("max", max), ("mean", mean)] {
      writer.member(key, number: Double(nanoseconds) / 1_000)
    }
    writer.member("count", count)
  }
}

extension LatencyHistogram {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("minimumNanoseconds", minimum)
    writer.member("maximumNanoseconds", maximum)
    writer.member("sumNanoseconds", sum)
    writer.list("buckets", counts.indices.filter { counts[$0] > 0 }) { writer, index in
      writer.numbers([UInt64(index), counts[index]])
    }
  }
}
