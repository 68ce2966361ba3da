/// What was measured of one backend under one phase of a workload.
public struct BenchmarkRow: Sendable, Hashable {
  /// How long single operations took, in microseconds.
  public struct Latency: Sendable, Hashable {
    /// Half of the operations took at most this.
    public let p50: Double
    /// 90 of 100 took at most this.
    public let p90: Double
    /// 99 of 100 took at most this.
    public let p99: Double
    /// 999 of 1,000 took at most this.
    public let p999: Double
    /// The longest took this.
    public let max: Double

    /// Latencies with the given fields.
    public init(p50: Double, p90: Double, p99: Double, p999: Double, max: Double) {
      self.p50 = p50
      self.p90 = p90
      self.p99 = p99
      self.p999 = p999
      self.max = max
    }

    /// The percentiles and their values, in order; the maximum counts as 100.
    var points: [(percentile: Double, microseconds: Double)] {
      [(50, p50), (90, p90), (99, p99), (99.9, p999), (100, max)]
    }
  }

  /// How many operations a second there were.
  public struct Throughput: Sendable, Hashable {
    /// The median of the rounds.
    public let median: Double
    /// The slowest round.
    public let lowest: Double
    /// The fastest round.
    public let highest: Double

    /// Throughputs with the given fields.
    public init(median: Double, lowest: Double, highest: Double) {
      self.median = median
      self.lowest = lowest
      self.highest = highest
    }
  }

  /// The backend.
  public let backend: String
  /// The workload's name.
  public let workload: String
  /// The phase of the workload.
  public let phase: String
  /// How many entries the store held.
  public let entries: Int
  /// How many operations were measured, in all rounds.
  public let operations: Int
  /// How long they took, in all rounds.
  public let seconds: Double
  /// How many there were a second.
  public let throughput: Throughput
  /// How long each took.
  public let latency: Latency
  /// What the store took up on its medium at the end.
  public let storageBytes: Int
  /// The most memory that the process had in use.
  public let peakMemoryBytes: Int
  /// The processor time used, of all threads, in seconds.
  public let processorSeconds: Double
  /// What was wrong with an answer; `nil` where all answers were right. Then no speed counts.
  public let mistake: String?

  /// A row with the given fields.
  public init(
    backend: String, workload: String, phase: String, entries: Int, operations: Int, seconds: Double,
    throughput: Throughput, latency: Latency, storageBytes: Int, peakMemoryBytes: Int, processorSeconds: Double,
    mistake: String? = nil
  ) {
    self.backend = backend
    self.workload = workload
    self.phase = phase
    self.entries = entries
    self.operations = operations
    self.seconds = seconds
    self.throughput = throughput
    self.latency = latency
    self.storageBytes = storageBytes
    self.peakMemoryBytes = peakMemoryBytes
    self.processorSeconds = processorSeconds
    self.mistake = mistake
  }

  /// The workload and the phase in one: "ycsb-b run", or just "read" where the phase is called like the workload.
  var title: String { phase == workload || phase.isEmpty ? workload : "\(workload) \(phase)" }
}

/// The rows that compare with each other: one phase of a workload over as many entries, each backend once.
struct BenchmarkGroup: Sendable {
  let title: String
  let entries: Int
  let rows: [BenchmarkRow]

  /// The highest throughput of those whose answers were right; 0 where there are none.
  var best: Double { rows.filter { $0.mistake == nil }.map(\.throughput.median).max() ?? 0 }

  /// The groups of `rows`, in the order in which they come first.
  static func groups(of rows: [BenchmarkRow]) -> [BenchmarkGroup] {
    var groups: [BenchmarkGroup] = []
    for row in rows {
      if let index = groups.firstIndex(where: { $0.title == row.title && $0.entries == row.entries }) {
        groups[index] = BenchmarkGroup(title: row.title, entries: row.entries, rows: groups[index].rows + [row])
      } else {
        groups.append(BenchmarkGroup(title: row.title, entries: row.entries, rows: [row]))
      }
    }
    return groups
  }
}
