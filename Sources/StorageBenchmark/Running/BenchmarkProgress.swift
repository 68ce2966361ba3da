/// How far a benchmark is. It is told before each phase of each round, and at the end.
public struct BenchmarkProgress: Sendable, Hashable {
  /// The engine that runs; empty at the end.
  public let backend: String
  /// The workload that runs.
  public let workload: String
  /// The phase that runs.
  public let phase: String
  /// The number of entries.
  public let entries: Int
  /// Which of the measured rounds runs, from 1; 0 or less for a warm-up.
  public let round: Int
  /// How many rounds are measured.
  public let rounds: Int
  /// How many phases of all rounds are done.
  public let completed: Int
  /// How many there are in all.
  public let total: Int
  /// How long the rest is likely to take, in seconds; `nil` before there is anything to go by.
  public let secondsLeft: Double?
}

/// Counts what is done, and estimates what is left: a phase takes as long as the last time it was run over the same
/// engine, and one that was not run yet as long as the others took on average.
struct ProgressTracker: Sendable {
  /// A phase of a workload over an engine, which is run once each round.
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

  /// Adds a step that is to be run `times` times.
  mutating func plan(_ step: Step, times: Int) {
    left[step, default: 0] += times
    total += times
  }

  /// Notes that the step was run once, and took so many seconds.
  mutating func finish(_ step: Step, seconds: Double) {
    left[step, default: 1] -= 1
    self.seconds[step] = seconds
    completed += 1
  }

  /// Notes that the steps of a workload over an engine are not going to be run any more.
  mutating func abandon(backend: Int, workload: String, entries: Int) {
    for step in left.keys where step.backend == backend && step.workload == workload && step.entries == entries {
      completed += left[step] ?? 0
      left[step] = 0
    }
  }

  /// How long all that is left is likely to take; `nil` if nothing was run yet.
  var secondsLeft: Double? {
    guard !seconds.isEmpty else { return nil }
    let average = seconds.values.reduce(0, +) / Double(seconds.count)
    return left.reduce(0) { $0 + Double($1.value) * (seconds[$1.key] ?? average) }
  }
}
