internal import StorageBenchmark

/// How far a benchmark is.
public struct BenchmarkStep: Sendable, Hashable {
  /// How many phases of all rounds are done.
  public let done: Int
  /// How many there are in all.
  public let total: Int
  /// How long the rest is likely to take; `nil` where there is nothing to go by yet.
  public let timeLeft: Duration?
  /// What is under way, such as "lmdb, ycsb-b run, round 2 of 5"; empty at the end.
  public let item: String

  /// A step with the given fields.
  public init(done: Int, total: Int, timeLeft: Duration?, item: String) {
    (self.done, self.total, self.timeLeft, self.item) = (done, total, timeLeft, item)
  }

  init(_ progress: BenchmarkProgress) {
    let turn = progress.round > 0 ? "round \(progress.round) of \(progress.rounds)" : "warming up"
    let phase = progress.phase == progress.workload ? progress.workload : "\(progress.workload) \(progress.phase)"
    self.init(
      done: progress.completed, total: progress.total, timeLeft: progress.secondsLeft.map { .seconds($0) },
      item: progress.backend.isEmpty ? "" : "\(progress.backend), \(phase), \(turn)")
  }
}
