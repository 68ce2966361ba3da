/// The progress of a benchmark, reported before each phase of each round, and at the end.
public struct BenchmarkProgress: Sendable, Hashable {
  /// The number of phases done, over all rounds.
  public let completed: Int
  /// The number of phases in all.
  public let total: Int
  /// How long the rest will probably take, in seconds; `nil` if there is no basis for an estimate yet.
  public let secondsLeft: Double?
  /// The current work, such as "lmdb, ycsb-b run, round 2 of 5"; empty at the end.
  public let item: String

  package init(completed: Int, total: Int, secondsLeft: Double?, item: String) {
    (self.completed, self.total, self.secondsLeft, self.item) = (completed, total, secondsLeft, item)
  }
}

/// Counts finished phases, reports them, and estimates the time left: a phase takes as long as its last run over the
/// same engine, or if it has not run yet, as long as the others on average.
struct ProgressTracker {
  let report: (BenchmarkProgress) -> Void

  private var completed = 0
  private var total = 0
  private var left: [BenchmarkResult.Row: Int] = [:]
  private var seconds: [BenchmarkResult.Row: Double] = [:]

  init(_ report: @escaping (BenchmarkProgress) -> Void) { self.report = report }

  /// Adds a phase that will run `times` times.
  mutating func plan(_ row: BenchmarkResult.Row, times: Int) {
    left[row, default: 0] += times
    total += times
  }

  /// Reports that `item` begins.
  func begin(_ item: String) {
    report(BenchmarkProgress(completed: completed, total: total, secondsLeft: secondsLeft, item: item))
  }

  /// Records one run of the phase, which took `seconds`.
  mutating func finish(_ row: BenchmarkResult.Row, seconds: Double) {
    left[row, default: 1] -= 1
    self.seconds[row] = seconds
    completed += 1
  }

  /// Records that the phase will not run any more.
  mutating func abandon(_ row: BenchmarkResult.Row) { completed += left.removeValue(forKey: row) ?? 0 }

  private var secondsLeft: Double? {
    guard !seconds.isEmpty else { return nil }
    let average = seconds.values.reduce(0, +) / Double(seconds.count)
    return left.reduce(0) { $0 + Double($1.value) * (seconds[$1.key] ?? average) }
  }
}
