/// One process's share in a run by several processes on one store.
///
/// For a run by N processes, start the same run N times, each with its share, the same scratch folder and the same
/// `BenchmarkOptions.runName`, and merge the reports (`BenchmarkReport.merging(_:)`), which travel as JSON with
/// histograms (`BenchmarkReport.json(includingHistograms:)`). Each process has its own entries, as many as the workload
/// says, in the common store, and checks those. So it can check every answer without asking the other processes. Only
/// `shared` engines can do this; others are skipped. The caller that started the processes removes the scratch folder:
/// a process that is done must not remove the store of the others.
public struct BenchmarkShare: Sendable, Hashable {
  /// The allowed numbers of processes.
  public static let countRange = 1...32

  /// The number of this process, from 0.
  public let index: Int
  /// The number of processes, within `countRange`.
  public let count: Int

  /// The share number `index` of `count`; both are clamped to their ranges.
  public init(index: Int, count: Int) {
    self.count = min(max(count, Self.countRange.lowerBound), Self.countRange.upperBound)
    self.index = min(max(index, 0), self.count - 1)
  }
}
