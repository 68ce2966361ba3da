/// The progress of a benchmark, reported before each phase of each round, and at the end.
public struct BenchmarkProgress: Sendable, Hashable {
  /// The current engine; empty at the end.
  public let backend: String
  /// The current workload.
  public let workload: String
  /// The current phase.
  public let phase: String
  /// The number of entries.
  public let entries: Int
  /// The current measured round, from 1; 0 or less for a warm-up.
  public let round: Int
  /// The number of measured rounds.
  public let rounds: Int
  /// The number of phases done, over all rounds.
  public let completed: Int
  /// The number of phases in all.
  public let total: Int
  /// How long the rest will probably take, in seconds; `nil` if there is no basis for an estimate yet.
  public let secondsLeft: Double?
}

/// Counts finished steps, and estimates the time left: a phase takes as long as its last run over the same engine, or
/// if it has not run yet, as long as the others on average.
struct ProgressTracker: Sendable {
  /// A phase of a workload over an engine, which runs once per round.
  struct Step: Hashable, Sendable {
    let backend: Int
    let workload: String
    let phase: String
    let entries: Int
  }

  private(set) var completed = 0
  private(set) var total = 0
  private var left: [Step: Int] = [:]
  private var seconds: [Step: Double] = [:]

  /// Adds a step that will run `times` times.
  mutating func plan(_ step: Step, times: Int) {
    left[step, default: 0] += times
    total += times
  }

  /// Records one run of the step, which took `seconds`.
  mutating func finish(_ step: Step, seconds: Double) {
    left[step, default: 1] -= 1
    self.seconds[step] = seconds
    completed += 1
  }

  /// Records that the steps of a workload over an engine will not run any more.
  mutating func abandon(backend: Int, workload: String, entries: Int) {
    for step in left.keys where step.backend == backend && step.workload == workload && step.entries == entries {
      completed += left[step] ?? 0
      left[step] = 0
    }
  }

  /// How long the rest will probably take, in seconds; `nil` if nothing has run yet.
  var secondsLeft: Double? {
    guard !seconds.isEmpty else { return nil }
    let average = seconds.values.reduce(0, +) / Double(seconds.count)
    return left.reduce(0) { $0 + Double($1.value) * (seconds[$1.key] ?? average) }
  }
}
