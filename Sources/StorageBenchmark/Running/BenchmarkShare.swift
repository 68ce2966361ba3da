/// The part of a run that one process does, where several run at once on one store.
///
/// Whoever wants a run by N processes starts the same run N times, each with its share, the same scratch folder and the
/// same `BenchmarkOptions.runName`, and merges the reports (`BenchmarkReport.merging(_:)`), which travel as JSON with
/// histograms (`BenchmarkReport.json(includingHistograms:)`). Each process has entries of its own, as many as the
/// workload says, in the store that all use together, and checks those; so every answer can be checked without asking the
/// other processes. Only engines that are `shared` can do it; others are skipped. The scratch folder is left to whoever
/// started the processes, because one that is done must not take away the store of the others.
public struct BenchmarkShare: Sendable, Hashable {
  /// How many processes there may be.
  public static let countRange = 1...32

  /// Which process this is, from 0.
  public let index: Int
  /// How many processes there are, within `countRange`.
  public let count: Int

  /// The share number `index` of `count`; both are moved into their ranges.
  public init(index: Int, count: Int) {
    self.count = min(max(count, Self.countRange.lowerBound), Self.countRange.upperBound)
    self.index = min(max(index, 0), self.count - 1)
  }
}
