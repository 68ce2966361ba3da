/// Compares the rows of a report with those of a saved one.
///
/// **The rule.** The throughputs of a row are compared by the medians of their rounds. A difference counts only beyond
/// the noise: three times the standard deviation of the rounds of both runs together, but never less than
/// `smallestNoise`. The standard deviations are estimated as the median absolute deviation times 1.4826, so that one
/// disturbed round does not widen the noise, and are added as squares, since the runs are independent. Three deviations
/// of single rounds is a cautious bound for a difference of medians. The smallest noise covers what differs between two
/// runs of a program and not between rounds, such as the placement of its memory. A row that failed or gave a wrong
/// answer for the first time is worse, whatever it cost.
public struct BenchmarkComparison: Sendable, Hashable {
  /// Differences up to this share always count as noise.
  public static let smallestNoise = 0.05

  /// The verdict on a row.
  public enum Verdict: String, Sendable, Hashable, CaseIterable {
    /// Faster, beyond the noise; or measured after a failure.
    case better
    /// No difference beyond the noise.
    case same
    /// Slower, beyond the noise; or failed for the first time.
    case worse
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
    /// The share that a change must exceed to count; `nil` if there is no change.
    public let noise: Double?
    /// Why there is no new throughput, in one line; `nil` if there is one.
    public let reason: String?
  }

  /// The rows in the order of the new report, then the rows that only the saved one has.
  public let rows: [Row]
  /// The differences in how the reports were made that may make their figures incomparable, one name each, such as
  /// "threads".
  public let differences: [String]

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
    let (old, new) = (saved?.measurement?.throughput, now.measurement?.throughput)
    var change: Double?
    var noise: Double?
    if let old, let new, old.median > 0 {
      change = new.median / old.median - 1
      let deviations = [old.relativeDeviation, new.relativeDeviation]
      let both = deviations.reduce(0) { $0 + $1 * $1 }.squareRoot()
      noise = max(BenchmarkComparison.smallestNoise, 3 * both)
    }
    self.init(
      row: now.row, verdict: Self.verdict(saved, now, change: change, noise: noise), saved: old?.median,
      now: new?.median, change: change, noise: noise, reason: now.outcome.reason)
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
    guard let change, let noise else {
      guard saved.measurement != nil else { return now.measurement == nil ? .same : .added }
      // Both were measured, but the saved throughput is 0, so there is no share of it.
      return now.measurement?.throughput.map { $0.median > 0 ? .better : .same } ?? .missing
    }
    // A tenth of the throughput is as far from 1 as ten times the throughput: the factor is measured towards the slower
    // one.
    let factor = change < 0 ? 1 / (1 + change) - 1 : change
    if factor <= noise { return .same }
    return change > 0 ? .better : .worse
  }
}
