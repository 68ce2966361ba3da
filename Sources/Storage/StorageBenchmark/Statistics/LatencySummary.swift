/// The latencies of a phase in a few numbers, all in nanoseconds.
public struct LatencySummary: Sendable, Hashable {
  /// The number of timed calls. A batch is one call, however many entries it has.
  public let count: UInt64
  /// The arithmetic mean, rounded.
  public let mean: UInt64
  /// The latency that 50 % of the calls did not exceed; percentiles are accurate to `LatencyHistogram.relativeError`.
  public let p50: UInt64
  /// The latency that 90 % of the calls did not exceed.
  public let p90: UInt64
  /// The latency that 99 % of the calls did not exceed.
  public let p99: UInt64
  /// The latency that 99.9 % of the calls did not exceed.
  public let p999: UInt64
  /// The exact longest latency.
  public let max: UInt64

  /// The summary of `histogram`.
  public init(_ histogram: LatencyHistogram) {
    self.init(
      count: histogram.count, mean: UInt64(histogram.mean.rounded()), p50: histogram.percentile(50),
      p90: histogram.percentile(90),
      p99: histogram.percentile(99), p999: histogram.percentile(99.9), max: histogram.maximum)
  }

  /// A summary in nanoseconds.
  public init(
    count: UInt64, mean: UInt64, p50: UInt64, p90: UInt64, p99: UInt64, p999: UInt64, max: UInt64
  ) {
    self.count = count
    self.mean = mean
    self.p50 = p50
    self.p90 = p90
    self.p99 = p99
    self.p999 = p999
    self.max = max
  }
}
