/// Compares the rows of a report with those of a saved one.
///
/// **The rule.** A row is better or worse only if the throughputs of both runs lie apart by more than the noise. The
/// noise has two parts, and the factors are multiplied:
/// - the rounds of each run: `Spread.interval`, which contains the median with a probability of 93 %;
/// - what differs between the runs and not between rounds, such as a busy machine. Rounds say nothing about that, so each
///   round also times some fixed work that has nothing to do with any engine (`BenchmarkProbe.doReferenceWork`). The
///   largest ratio between the intervals of these times is how much the machine may have changed.
///
/// What is not beyond the noise is no proof of sameness either: the verdict is `cannotTell`. The same holds for a report
/// without the times of the reference work, and for fewer than five rounds.
/// A row that failed or gave a wrong answer for the first time is worse, whatever it cost.
public struct BenchmarkComparison: Sendable, Hashable {
  /// Differences up to this share always count as noise: the placement of a program in memory differs from run to run.
  public static let smallestNoise = 0.05

  /// The verdict on a row.
  public enum Verdict: String, Sendable, Hashable, CaseIterable {
    /// Faster, beyond the noise; or measured after a failure.
    case better
    /// No figures in either report, for reasons that are equally bad.
    case same
    /// Slower, beyond the noise; or failed for the first time.
    case worse
    /// No difference beyond the noise, or the noise is unknown.
    case cannotTell = "cannot tell"
    /// Only in the new report, or only measured there.
    case added
    /// Only in the saved report, or not measured in the new one.
    case missing
  }

  /// A row that is in either report.
  public struct Row: Sendable, Hashable {
    /// The row.
    public let row: BenchmarkResult.Row
    /// The verdict.
    public let verdict: Verdict
    /// The saved throughput, in operations per second; `nil` if there is none.
    public let saved: Double?
    /// The new throughput; `nil` if there is none.
    public let now: Double?
    /// The change of the throughput as a share of the saved one: 0.1 is a tenth faster; `nil` if one is missing.
    public let change: Double?
    /// The factor, less one, that a change must exceed to count; `nil` if it is unknown.
    public let noise: Double?
    /// Why there is no new throughput, or why the noise is unknown, in one line; `nil` if neither.
    public let reason: String?
  }

  /// The rows in the order of the new report, then the rows that only the saved one has.
  public let rows: [Row]
  /// The differences in how the reports were made that may make their figures incomparable, one name each, such as
  /// "threads".
  public let differences: [String]

  /// Why the noise of some rows is unknown, each reason once.
  public var gaps: [String] {
    rows.reduce(into: []) { gaps, row in
      if row.verdict == .cannotTell, let gap = row.reason, !gaps.contains(gap) { gaps.append(gap) }
    }
  }
  /// Whether any row is worse.
  public var isWorse: Bool { rows.contains { $0.verdict == .worse } }

  /// Compares `now` with `saved`.
  public init(saved: BenchmarkReport, now: BenchmarkReport) {
    let rest = saved.results.filter { old in !now.results.contains { $0.row == old.row } }
    rows =
      now.results.map { new in Row(saved: saved.results.first { $0.row == new.row }, now: new) }
      + rest.map { Row(missing: $0) }
    differences = Self.differences(saved.environment, now.environment)
  }

  private static func differences(_ saved: BenchmarkEnvironment, _ now: BenchmarkEnvironment) -> [String] {
    let facts: [(String, Bool)] = [
      ("processor", saved.machine.processor == now.machine.processor),
      ("processors", saved.machine.processors == now.machine.processors),
      ("kernel", saved.machine.kernel == now.machine.kernel),
      ("file system", saved.machine.fileSystem == now.machine.fileSystem),
      ("engine versions", versionsAgree(saved, now)), ("durability", saved.durability == now.durability),
      ("seed", saved.seed == now.seed), ("threads", saved.threads == now.threads),
      ("processes", saved.processes == now.processes), ("target rate", saved.targetRate == now.targetRate),
      ("build", saved.facts["build"] == now.facts["build"]),
      ("operations", saved.facts["operations"] == now.facts["operations"]),
      ("value size", saved.facts["valueSize"] == now.facts["valueSize"]),
      ("policy", saved.facts["policy"] == now.facts["policy"]),
    ]
    return facts.filter { !$0.1 }.map(\.0)
  }

  /// Whether the engines in both reports have the same versions.
  private static func versionsAgree(_ saved: BenchmarkEnvironment, _ now: BenchmarkEnvironment) -> Bool {
    now.engines.allSatisfy { engine in
      saved.engines.first { $0.name == engine.name }.map { $0.version == engine.version } ?? true
    }
  }
}

extension BenchmarkComparison.Row {
  fileprivate init(saved: BenchmarkResult?, now: BenchmarkResult) {
    let old = saved?.measurement?.throughput?.median
    let new = now.measurement?.throughput?.median
    let change = old.flatMap { old in old > 0 ? new.map { $0 / old - 1 } : nil }
    let noise = saved?.measurement.flatMap { saved in now.measurement.map { RunNoise(saved, $0) } }
    self.init(
      row: now.row, verdict: Self.verdict(saved, now, change: change, noise: noise?.factor), saved: old, now: new,
      change: change, noise: noise?.factor.map { $0 - 1 }, reason: now.outcome.reason ?? noise?.gap)
  }

  fileprivate init(missing saved: BenchmarkResult) {
    self.init(
      row: saved.row, verdict: .missing, saved: saved.measurement?.throughput?.median, now: nil, change: nil,
      noise: nil, reason: nil)
  }

  private static func verdict(
    _ saved: BenchmarkResult?, _ now: BenchmarkResult, change: Double?, noise: Double?
  ) -> BenchmarkComparison.Verdict {
    guard let saved else { return now.isFailure ? .worse : .added }
    if now.isFailure { return saved.isFailure ? .same : .worse }
    if saved.isFailure { return now.measurement == nil ? .same : .better }
    guard saved.measurement != nil else { return now.measurement == nil ? .same : .added }
    guard now.measurement != nil else { return .missing }
    // A tenth of the throughput is as far from 1 as ten times the throughput: the factor is measured towards the slower
    // one.
    guard let change, let noise, max(1 + change, 1 / (1 + change)) > noise else { return .cannotTell }
    return change > 0 ? .better : .worse
  }
}

/// The noise of two measurements of one row.
private struct RunNoise {
  /// The factor that a difference must exceed to count; `nil` if it is unknown.
  private(set) var factor: Double?
  /// Why the noise is unknown; `nil` if it is known.
  private(set) var gap: String?

  init(_ saved: BenchmarkMeasurement, _ now: BenchmarkMeasurement) {
    guard let old = saved.throughput, let new = now.throughput, let oldRange = old.interval, let newRange = new.interval
    else {
      gap = "fewer than five rounds do not show how much rounds differ"
      return
    }
    guard let oldWork = saved.reference?.interval, let newWork = now.reference?.interval else {
      gap = "a report without the times of the reference work does not show how much the machine changed"
      return
    }
    guard min(oldRange.lowerBound, newRange.lowerBound, oldWork.lowerBound, newWork.lowerBound) > 0 else {
      gap = "a round without operations has no throughput to compare"
      return
    }
    let rounds = max(
      oldRange.upperBound / old.median * (new.median / newRange.lowerBound),
      old.median / oldRange.lowerBound * (newRange.upperBound / new.median))
    let machine = max(newWork.upperBound / oldWork.lowerBound, oldWork.upperBound / newWork.lowerBound)
    factor = max(1 + BenchmarkComparison.smallestNoise, rounds * machine)
  }
}
