internal import CacheBase

/// Compares the rows of a report with those of a saved one.
///
/// **The rule.** A row is better or worse only if the throughputs of both runs differ by more than the noise. The
/// noise has two parts, and the factors are multiplied:
/// - the rounds of each run: `Spread.interval`, which contains the median with a probability of 93 %;
/// - what differs between the runs and not between rounds, such as a busy machine. Rounds say nothing about that, so each
///   round also times some fixed work that has nothing to do with any engine (`BenchmarkProbe.doReferenceWork`). The
///   largest ratio between the intervals of these times is how much the machine might have changed.
///
/// A difference within the noise does not prove sameness either: the verdict is `cannotTell`. The same holds for fewer
/// than five rounds. A row that failed or gave a wrong answer for the first time is worse, whatever it cost.
public struct BenchmarkComparison: Sendable, Hashable {
  /// Differences up to this share always count as noise: the placement of a program in memory differs from run to run.
  static let smallestNoise = 0.05

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
    /// The factor, less one, that a change must exceed to count; `nil` if it is unknown.
    public let noise: Double?

    /// The change of the throughput as a share of the saved one: 0.1 is a tenth faster; `nil` if one is missing.
    public var change: Double? {
      guard let saved, let now, saved > 0 else { return nil }
      return now / saved - 1
    }
  }

  /// The rows in the order of the new report, then the rows that only the saved one has.
  public let rows: [Row]
  /// The differences in how the reports were made that can make their figures incomparable, one name each, such as
  /// "threads".
  public let differences: [String]

  /// Whether the noise of some measured rows is unknown: fewer than five rounds, or a round without operations, show none.
  public var hasUnknownNoise: Bool { rows.contains { $0.verdict == .cannotTell && $0.noise == nil } }
  /// Whether any row is worse.
  public var isWorse: Bool { rows.contains { $0.verdict == .worse } }

  /// Compares `now` with `saved`.
  public init(saved: BenchmarkReport, now: BenchmarkReport) {
    let rest = saved.results.filter { old in !now.results.contains { $0.row == old.row } }
    rows =
      now.results.map { new in Row(new.row, saved: saved.results.first { $0.row == new.row }, now: new) }
      + rest.map { Row($0.row, saved: $0, now: nil) }
    differences = Self.differences(saved.environment, now.environment)
  }

  /// The members of the environment that matter, by name and by what people call them.
  private static let facts = [
    ("processor", "processor"), ("processors", "processors"), ("kernel", "kernel"), ("fileSystem", "file system"),
    ("durability", "durability"), ("seed", "seed"), ("threads", "threads"), ("processes", "processes"),
    ("build", "build"), ("operations", "operations"), ("valueSize", "value size"), ("policy", "policy"),
  ]

  private static func differences(_ saved: JSONValue, _ now: JSONValue) -> [String] {
    let differences = facts.filter { (saved[$0.0] ?? .null) != (now[$0.0] ?? .null) }.map(\.1)
    guard case .object(let engines)? = now["engines"] else { return differences }
    let haveOtherVersions = engines.contains { engine in
      saved["engines"]?[engine.name].map { $0 != engine.value } ?? false
    }
    return differences + (haveOtherVersions ? ["engine versions"] : [])
  }
}

extension BenchmarkComparison.Row {
  fileprivate init(_ row: BenchmarkResult.Row, saved old: BenchmarkResult?, now new: BenchmarkResult?) {
    self.row = row
    saved = old?.measurement?.throughput?.median
    now = new?.measurement?.throughput?.median
    let factor = old?.measurement.flatMap { old in new?.measurement.flatMap { Self.noise(old, $0) } }
    noise = factor.map { $0 - 1 }
    guard let new else {
      verdict = .missing
      return
    }
    guard let old else {
      verdict = new.isFailure ? .worse : .added
      return
    }
    verdict =
      switch (old.measurement, new.measurement) {
      case (nil, nil): new.isFailure && !old.isFailure ? .worse : .same
      case (nil, _): old.isFailure ? .better : .added
      case (_, nil): new.isFailure ? .worse : .missing
      default: Self.verdict(saved ?? 0, now ?? 0, factor)
      }
  }

  /// A tenth of the throughput is as far from 1 as ten times the throughput: the factor is measured towards the slower
  /// one.
  private static func verdict(_ saved: Double, _ now: Double, _ factor: Double?) -> BenchmarkComparison.Verdict {
    guard let factor, max(now / saved, saved / now) > factor else { return .cannotTell }
    return now > saved ? .better : .worse
  }

  /// The factor that a difference must exceed to count; `nil` if it is unknown.
  private static func noise(_ saved: BenchmarkMeasurement, _ now: BenchmarkMeasurement) -> Double? {
    guard let old = saved.throughput, let new = now.throughput, let oldRange = old.interval,
      let newRange = new.interval,
      let oldWork = saved.reference?.interval, let newWork = now.reference?.interval,
      min(oldRange.lowerBound, newRange.lowerBound, oldWork.lowerBound, newWork.lowerBound) > 0
    else { return nil }
    let rounds = max(
      oldRange.upperBound / old.median * (new.median / newRange.lowerBound),
      old.median / oldRange.lowerBound * (newRange.upperBound / new.median))
    let machine = max(newWork.upperBound / oldWork.lowerBound, oldWork.upperBound / newWork.lowerBound)
    return max(1 + BenchmarkComparison.smallestNoise, rounds * machine)
  }
}
