internal import StorageBenchmark

/// The progress of a benchmark.
struct BenchmarkStep: Sendable, Hashable {
  /// The number of phases done, over all rounds.
  let done: Int
  /// The number of phases in all.
  let total: Int
  /// How long the rest will probably take; `nil` if there is no basis for an estimate yet.
  let timeLeft: Duration?
  /// The current work, such as "lmdb, ycsb-b run, round 2 of 5"; empty at the end.
  let item: String

  /// A step of the progress.
  init(done: Int, total: Int, timeLeft: Duration?, item: String) {
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
