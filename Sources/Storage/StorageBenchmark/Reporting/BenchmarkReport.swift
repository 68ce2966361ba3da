/// The results of a benchmark: the environment, and a result for each engine, workload, phase and number of entries.
public struct BenchmarkReport: Sendable, Hashable {
  /// The machine and the settings.
  public var environment: BenchmarkEnvironment
  /// The results, ordered by workload, number of entries and phase, then in the order of the engines.
  public var results: [BenchmarkResult]
  /// Whether the run reached its end; a cancelled run has the results of the rounds before.
  public var isComplete: Bool

  /// A report of these results.
  public init(environment: BenchmarkEnvironment, results: [BenchmarkResult], isComplete: Bool) {
    (self.environment, self.results, self.isComplete) = (environment, results, isComplete)
  }

  /// Whether an engine failed or gave a wrong answer.
  public var hasFailure: Bool { results.contains(where: \.isFailure) }

  /// Merges the reports of several processes of one run: operations add up, and a round takes as long as in the slowest
  /// process. A row that failed in one process failed. `nil` if there are no reports.
  public static func merging(_ reports: [BenchmarkReport]) -> BenchmarkReport? {
    guard var merged = reports.first else { return nil }
    merged.isComplete = reports.allSatisfy(\.isComplete)
    merged.results = merged.results.map { first in
      reports.dropFirst().compactMap { report in report.results.first { $0.row == first.row } }.reduce(first) {
        BenchmarkResult(row: first.row, outcome: $0.outcome.merged(with: $1.outcome))
      }
    }
    return merged
  }
}

extension BenchmarkResult.Outcome {
  fileprivate func merged(with other: BenchmarkResult.Outcome) -> BenchmarkResult.Outcome {
    switch (self, other) {
    case (.measured(let own), .measured(let others)): .measured(own.merged(with: others))
    case (.wrong, _), (_, .skipped): self
    case (_, .wrong), (.skipped, _): other
    case (.failed, _): self
    case (_, .failed): other
    }
  }
}

extension BenchmarkMeasurement {
  fileprivate func merged(with other: BenchmarkMeasurement) -> BenchmarkMeasurement {
    var histogram = histogram
    if let others = other.histogram { histogram?.merge(others) } else { histogram = nil }
    return BenchmarkMeasurement(
      rounds: zip(rounds, other.rounds).map { $0.merged(with: $1) },
      latency: histogram.map(LatencySummary.init) ?? latency, histogram: histogram)
  }
}

extension BenchmarkMeasurement.Round {
  fileprivate func merged(with other: Self) -> Self {
    let peaks = [peakMemoryBytes, other.peakMemoryBytes].compactMap(\.self)
    return Self(
      operations: operations + other.operations, seconds: max(seconds, other.seconds),
      processorSeconds: processorSeconds + other.processorSeconds,
      peakMemoryBytes: peaks.isEmpty ? nil : peaks.reduce(0, +), storageBytes: max(storageBytes, other.storageBytes),
      referenceSeconds: referenceSeconds.flatMap { own in other.referenceSeconds.map { max(own, $0) } })
  }
}
