/// The cost of one phase of a workload on one backend.
public struct BenchmarkFigures: Sendable, Hashable {
  /// How long single calls of the backend took, in microseconds; see `operationsPerCall`.
  public struct Latency: Sendable, Hashable {
    /// 50 % of the calls took at most this.
    public let p50: Double
    /// 90 % of the calls took at most this.
    public let p90: Double
    /// 99 % of the calls took at most this.
    public let p99: Double
    /// 99.9 % of the calls took at most this.
    public let p999: Double
    /// The longest call took this.
    public let max: Double

    /// Latencies in microseconds.
    public init(p50: Double, p90: Double, p99: Double, p999: Double, max: Double) {
      (self.p50, self.p90, self.p99, self.p999, self.max) = (p50, p90, p99, p999, max)
    }

    /// The percentiles and their values, in order; the maximum is percentile 100.
    var points: [(percentile: Double, microseconds: Double)] {
      [(50, p50), (90, p90), (99, p99), (99.9, p999), (100, max)]
    }
  }

  /// Operations per second.
  public struct Throughput: Sendable, Hashable {
    /// The median of the rounds.
    public let median: Double
    /// The slowest round.
    public let lowest: Double
    /// The fastest round.
    public let highest: Double

    /// The throughput over the rounds.
    public init(median: Double, lowest: Double, highest: Double) {
      (self.median, self.lowest, self.highest) = (median, lowest, highest)
    }
  }

  /// The number of measured operations, over all rounds.
  public let operations: Int
  /// How long they took, over all rounds.
  public let seconds: Double
  /// How many ran per second.
  public let throughput: Throughput
  /// The number of operations in a call of the backend: more than 1 if a call is a batch.
  public let operationsPerCall: Int
  /// How long each call took.
  public let latency: Latency
  /// The space that the store took on its medium at the end.
  public let storageBytes: Int
  /// The peak memory of the process, less what it held before; `nil` if unknown.
  public let peakMemoryBytes: Int?
  /// The processor time of all threads, in seconds.
  public let processorSeconds: Double

  /// The figures of a phase.
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
