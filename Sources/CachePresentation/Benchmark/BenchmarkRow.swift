/// What came of one backend under one phase of a workload.
public struct BenchmarkRow: Sendable, Hashable {
  /// How it ended.
  public enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// All answers were right: there are figures.
    case measured
    /// An answer was wrong, and no speed counts then.
    case wrong
    /// The backend failed.
    case failed
    /// The backend cannot do it.
    case skipped
    /// It was not run, although an earlier run, which this one is compared to, has it.
    case missing

    /// Whether it speaks against the backend.
    var isFailure: Bool { self == .wrong || self == .failed }
  }

  /// The backend.
  public let backend: String
  /// The workload's name.
  public let workload: String
  /// The phase of the workload.
  public let phase: String
  /// How many entries the store held.
  public let entries: Int
  /// How it ended.
  public let outcome: Outcome
  /// What it cost; `nil` where it was not measured.
  public let figures: BenchmarkFigures?
  /// Why there are no figures, in one line; `nil` where there are.
  public let reason: String?
  /// Whether the backend keeps nothing, and is there to show what the measuring costs: it cannot be the best of those
  /// that keep something.
  public var isControl = false

  /// A row with figures.
  public init(backend: String, workload: String, phase: String, entries: Int, figures: BenchmarkFigures) {
    (self.backend, self.workload, self.phase, self.entries) = (backend, workload, phase, entries)
    (outcome, self.figures, reason) = (.measured, figures, nil)
  }

  /// A row without figures, for a reason.
  public init(
    backend: String, workload: String, phase: String, entries: Int, outcome: Outcome, reason: String?
  ) {
    (self.backend, self.workload, self.phase, self.entries) = (backend, workload, phase, entries)
    (self.outcome, figures, self.reason) = (outcome, nil, reason)
  }

  /// The workload and the phase in one: "ycsb-b run", or just "read" where the phase is called like the workload.
  var title: String { BenchmarkText.title(workload: workload, phase: phase) }

  /// The throughput; 0 where it was not measured.
  var speed: Double { figures?.throughput.median ?? 0 }
}
