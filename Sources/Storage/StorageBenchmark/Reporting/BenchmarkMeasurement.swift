/// The cost of a phase over all its rounds.
public struct BenchmarkMeasurement: Sendable, Hashable {
  /// The cost of one round of the phase.
  public struct Round: Sendable, Hashable {
    /// The number of operations; each operation of a batch counts.
    public let operations: Int
    /// How long it took, from the start of the first operation to the end of the last.
    public let seconds: Double
    /// The processor time of the whole process meanwhile, including the harness and the checks.
    public let processorSeconds: Double
    /// The peak of the resident memory, less what was resident before the store was opened, in bytes; `nil` if the
    /// system does not tell. Pages of a mapped file count, although the kernel can reclaim them.
    public let peakMemoryBytes: Int?
    /// The size of the store according to the engine, in bytes.
    public let storageBytes: Int
    /// How long the reference work took right before; `nil` in reports of programs that did none.
    public let referenceSeconds: Double?

    /// The cost of a round.
    public init(
      operations: Int, seconds: Double, processorSeconds: Double, peakMemoryBytes: Int?, storageBytes: Int,
      referenceSeconds: Double? = nil
    ) {
      (self.operations, self.seconds, self.processorSeconds) = (operations, seconds, processorSeconds)
      (self.peakMemoryBytes, self.storageBytes) = (peakMemoryBytes, storageBytes)
      self.referenceSeconds = referenceSeconds
    }

    /// The throughput; 0 if no time passed.
    public var operationsPerSecond: Double { seconds > 0 ? Double(operations) / seconds : 0 }
  }

  /// The rounds, in the order in which they ran; at least one.
  public let rounds: [Round]
  /// The latencies of all rounds.
  public let latency: LatencySummary
  /// The full latencies of all rounds; `nil` if the report was read from a file without them.
  public let histogram: LatencyHistogram?

  /// The cost of the rounds.
  public init(rounds: [Round], latency: LatencySummary, histogram: LatencyHistogram?) {
    (self.rounds, self.latency, self.histogram) = (rounds, latency, histogram)
  }

  /// The number of operations over all rounds.
  public var operations: Int { rounds.reduce(0) { $0 + $1.operations } }
  /// The average number of operations in one timed call of the engine, rounded: 1, the size of a batch, or the number
  /// of entries that a compaction removed.
  public var operationsPerCall: Int {
    latency.count > 0 ? max(1, Int((Double(operations) / Double(latency.count)).rounded())) : 1
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
  /// The times of the reference work over the rounds; `nil` if a round has none.
  public var reference: Spread? {
    let seconds = rounds.compactMap(\.referenceSeconds)
    return seconds.count == rounds.count ? Spread(seconds) : nil
  }
}
