/// What a phase of a workload cost over one backend.
public struct BenchmarkFigures: Sendable, Hashable {
  /// How long single calls of the backend took, in microseconds; see `operationsPerCall`.
  public struct Latency: Sendable, Hashable {
    /// Half of the calls took at most this.
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
      (self.p50, self.p90, self.p99, self.p999, self.max) = (p50, p90, p99, p999, max)
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
      (self.median, self.lowest, self.highest) = (median, lowest, highest)
    }
  }

  /// How many operations were measured, in all rounds.
  public let operations: Int
  /// How long they took, in all rounds.
  public let seconds: Double
  /// How many there were a second.
  public let throughput: Throughput
  /// How many operations a call of the backend did: more than 1 where a call is a batch.
  public let operationsPerCall: Int
  /// How long each call took.
  public let latency: Latency
  /// What the store took up on its medium at the end.
  public let storageBytes: Int
  /// The most memory that the process took besides what it held before; `nil` where that is unknown.
  public let peakMemoryBytes: Int?
  /// The processor time used, of all threads, in seconds.
  public let processorSeconds: Double

  /// Figures with the given fields.
  public init(
    operations: Int, seconds: Double, throughput: Throughput, operationsPerCall: Int, latency: Latency,
    storageBytes: Int, peakMemoryBytes: Int?, processorSeconds: Double
  ) {
    (self.operations, self.seconds, self.throughput) = (operations, seconds, throughput)
    (self.operationsPerCall, self.latency) = (operationsPerCall, latency)
    (self.storageBytes, self.peakMemoryBytes) = (storageBytes, peakMemoryBytes)
    self.processorSeconds = processorSeconds
  }
}
