public import CacheBase

/// The results of a benchmark: the environment, and a result for each engine, workload, phase and number of entries.
public struct BenchmarkReport: Sendable, Hashable {
  /// The machine and the settings, as one object: without them the figures mean nothing.
  public var environment: JSONValue
  /// The results, ordered by workload, number of entries and phase, then in the order of the engines.
  public var results: [BenchmarkResult]
  /// Whether the run reached its end; a cancelled run has the results of the rounds before.
  public var isComplete: Bool

  /// Whether an engine failed or gave a wrong answer.
  public var hasFailure: Bool { results.contains(where: \.isFailure) }

  /// Merges the reports of several processes of one run: operations add up, and a round takes as long as in the slowest
  /// process. A row that failed in one process failed. `nil` if there are no reports.
  public static func merging(_ reports: [BenchmarkReport]) -> BenchmarkReport? {
    guard var merged = reports.first else { return nil }
    merged.isComplete = reports.allSatisfy(\.isComplete)
    for index in merged.results.indices {
      let row = merged.results[index].row
      for other in reports.dropFirst().compactMap({ report in report.results.first { $0.row == row } }) {
        merged.results[index].outcome.merge(other.outcome)
      }
    }
    return merged
  }
}

/// The result of one phase of a workload over one engine, with a given number of entries.
public struct BenchmarkResult: Sendable, Hashable {
  /// The end of a phase.
  public enum Outcome: Sendable, Hashable {
    /// Every answer was correct, at this cost.
    case measured(BenchmarkMeasurement)
    /// The engine gave this impossible answer: its speed does not count.
    case wrong(String)
    /// The engine failed, with this error.
    case failed(String)
    /// The engine cannot run the workload, for this reason.
    case skipped(String)

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

    fileprivate mutating func merge(_ other: Outcome) {
      switch (self, other) {
      case (.measured(var own), .measured(let others)):
        own.merge(others)
        self = .measured(own)
      case (.wrong, _), (_, .skipped), (.failed, .failed), (.failed, .measured): break
      default: self = other
      }
    }
  }

  /// The identity of a row in a report.
  public struct Row: Sendable, Hashable {
    /// The engine.
    public let backend: String
    /// The workload.
    public let workload: String
    /// The phase of the workload.
    public let phase: String
    /// The number of entries that the load stores.
    public let entries: Int

    /// The workload and the phase in one: "ycsb-b run", or just "read" if the phase has the workload's name.
    public var title: String { phase == workload ? workload : "\(workload) \(phase)" }
  }

  /// The row of the report.
  public let row: Row
  /// The end of the phase.
  public internal(set) var outcome: Outcome

  /// The cost; `nil` if it was not measured.
  public var measurement: BenchmarkMeasurement? {
    if case .measured(let measurement) = outcome { measurement } else { nil }
  }

  /// Whether the engine failed or gave a wrong answer.
  public var isFailure: Bool { ["wrong", "failed"].contains(outcome.name) }
}

/// The cost of a phase over all its rounds.
public struct BenchmarkMeasurement: Sendable, Hashable {
  /// The cost of one round of the phase.
  public struct Round: Sendable, Hashable {
    /// The number of operations; each operation of a batch counts.
    public var operations = 0
    /// The elapsed time, from the start of the first operation to the end of the last.
    public var seconds = 0.0
    /// The processor time of the whole process meanwhile, including the harness and the checks.
    public var processorSeconds = 0.0
    /// The peak of the resident memory, less the memory that was resident before the store was opened, in bytes; `nil` if the
    /// system does not tell. Pages of a mapped file count, although the kernel can reclaim them.
    public var peakMemoryBytes: Int?
    /// The size of the store according to the engine, in bytes.
    public var storageBytes = 0
    /// The time of the reference work right before.
    public var referenceSeconds = 0.0
    /// The number of operations that the store served; `nil` unless the store was bounded.
    public var hits: Int?

    /// The throughput; 0 if no time passed.
    public var operationsPerSecond: Double { seconds > 0 ? Double(operations) / seconds : 0 }
  }

  /// The rounds, in the order in which they ran.
  public internal(set) var rounds: [Round] = []
  /// The latencies of all rounds.
  public internal(set) var latencies = LatencyHistogram()

  /// Adds another round, or several.
  mutating func add(_ other: BenchmarkMeasurement) {
    rounds += other.rounds
    latencies.merge(other.latencies)
  }

  /// Adds what another process did in the same rounds.
  fileprivate mutating func merge(_ other: BenchmarkMeasurement) {
    rounds = zip(rounds, other.rounds).map { own, others in
      let peaks = [own.peakMemoryBytes, others.peakMemoryBytes].compactMap(\.self)
      return Round(
        operations: own.operations + others.operations, seconds: max(own.seconds, others.seconds),
        processorSeconds: own.processorSeconds + others.processorSeconds,
        peakMemoryBytes: peaks.isEmpty ? nil : peaks.reduce(0, +),
        storageBytes: max(own.storageBytes, others.storageBytes),
        referenceSeconds: max(own.referenceSeconds, others.referenceSeconds),
        hits: own.hits.flatMap { hits in others.hits.map { hits + $0 } })
    }
    latencies.merge(other.latencies)
  }

  /// The number of operations over all rounds.
  public var operations: Int { rounds.reduce(0) { $0 + $1.operations } }
  /// The average number of operations in one timed call of the engine, rounded: 1, or the size of a batch.
  public var operationsPerCall: Int {
    latencies.count > 0 ? max(1, Int((Double(operations) / Double(latencies.count)).rounded())) : 1
  }
  /// The share of operations that the store served, from 0 to 1; `nil` unless the store was bounded.
  public var hitRatio: Double? {
    let hits = rounds.compactMap(\.hits)
    return hits.isEmpty || operations == 0 ? nil : Double(hits.reduce(0, +)) / Double(operations)
  }
  /// The time of all rounds.
  public var seconds: Double { rounds.reduce(0) { $0 + $1.seconds } }
  /// The processor time of all rounds.
  public var processorSeconds: Double { rounds.reduce(0) { $0 + $1.processorSeconds } }
  /// The highest peak of all rounds.
  public var peakMemoryBytes: Int? { rounds.compactMap(\.peakMemoryBytes).max() }
  /// The size of the store after the last round.
  public var storageBytes: Int { rounds.last?.storageBytes ?? 0 }
  /// The throughput over the rounds; `nil` if there is none.
  public var throughput: Spread? { Spread(rounds.map(\.operationsPerSecond)) }
  /// The times of the reference work over the rounds.
  var reference: Spread? { Spread(rounds.map(\.referenceSeconds)) }
}
