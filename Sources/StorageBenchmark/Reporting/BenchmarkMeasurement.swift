/// What a phase cost, in all its rounds.
public struct BenchmarkMeasurement: Sendable, Hashable {
  /// What one round of the phase cost.
  public struct Round: Sendable, Hashable {
    /// The number of operations; those of a batch count one each.
    public let operations: Int
    /// How long it took, from the start of the first operation to the end of the last.
    public let seconds: Double
    /// How long processors worked for the whole process meanwhile; the harness and the checks are part of it.
    public let processorSeconds: Double
    /// The peak of the resident memory of the process, less what was resident before the store was opened, in bytes;
    /// `nil` if the system does not tell. Pages of a mapped file count, although the kernel can take them back.
    public let peakMemoryBytes: Int?
    /// What the engine says that the store takes up, in bytes.
    public let storageBytes: Int

    /// A round with the given fields.
    public init(
      operations: Int, seconds: Double, processorSeconds: Double, peakMemoryBytes: Int?, storageBytes: Int
    ) {
      (self.operations, self.seconds, self.processorSeconds) = (operations, seconds, processorSeconds)
      (self.peakMemoryBytes, self.storageBytes) = (peakMemoryBytes, storageBytes)
    }

    /// The throughput; 0 where no time passed.
    public var operationsPerSecond: Double { seconds > 0 ? Double(operations) / seconds : 0 }
  }

  /// The rounds, in the order in which they were run; at least one.
  public let rounds: [Round]
  /// The latencies of all rounds.
  public let latency: LatencySummary
  /// The latencies of all rounds in full; `nil` if the report was read from a file without them.
  public let histogram: LatencyHistogram?

  /// A measurement with the given fields.
  public init(rounds: [Round], latency: LatencySummary, histogram: LatencyHistogram?) {
    (self.rounds, self.latency, self.histogram) = (rounds, latency, histogram)
  }

  /// The number of operations of all rounds.
  public var operations: Int { rounds.reduce(0) { $0 + $1.operations } }
  /// How many operations one call of the engine did, of which the latencies are: 1, or the size of a batch, or how many
  /// entries a compaction removed. On average, rounded.
  public var operationsPerCall: Int {
    latency.count > 0 ? max(1, Int((Double(operations) / Double(latency.count)).rounded())) : 1
  }
  /// How long all rounds took.
  public var seconds: Double { rounds.reduce(0) { $0 + $1.seconds } }
  /// How long processors worked in all rounds.
  public var processorSeconds: Double { rounds.reduce(0) { $0 + $1.processorSeconds } }
  /// The greatest peak of all rounds.
  public var peakMemoryBytes: Int? { rounds.compactMap(\.peakMemoryBytes).max() }
  /// What the store took up after the last round.
  public var storageBytes: Int { rounds.last?.storageBytes ?? 0 }
  /// The throughput of the rounds; `nil` if there is none.
  public var throughput: Spread? { Spread(rounds.map(\.operationsPerSecond)) }
}
