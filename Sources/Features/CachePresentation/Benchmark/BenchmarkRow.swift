/// The result of one backend in one phase of a workload.
public struct BenchmarkRow: Sendable, Hashable {
  /// How a phase ended.
  public enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// All answers were correct: there are figures.
    case measured
    /// An answer was wrong, so no speed counts.
    case wrong
    /// The backend failed.
    case failed
    /// The backend does not support the workload.
    case skipped
    /// Not run, but present in the earlier run of the comparison.
    case missing

    /// Whether the backend is at fault.
    var isFailure: Bool { self == .wrong || self == .failed }
  }

  /// The backend.
  public let backend: String
  /// The workload's name.
  public let workload: String
  /// The phase of the workload.
  public let phase: String
  /// The number of entries in the store.
  public let entries: Int
  /// How it ended.
  public let outcome: Outcome
  /// What it cost; `nil` if it was not measured.
  public let figures: BenchmarkFigures?
  /// Why there are no figures, in one line; `nil` if there are.
  public let reason: String?
  /// Whether the backend is a control that stores nothing and only shows the cost of measuring: it never counts as the
  /// best.
  public var isControl = false

  /// A row with figures.
  public init(backend: String, workload: String, phase: String, entries: Int, figures: BenchmarkFigures) {
    (self.backend, self.workload, self.phase, self.entries) = (backend, workload, phase, entries)
    (outcome, self.figures, reason) = (.measured, figures, nil)
  }

  /// A row without figures, and the reason.
  public init(
    backend: String, workload: String, phase: String, entries: Int, outcome: Outcome, reason: String?
  ) {
    (self.backend, self.workload, self.phase, self.entries) = (backend, workload, phase, entries)
    (self.outcome, figures, self.reason) = (outcome, nil, reason)
  }

  /// The workload and the phase in one: "ycsb-b run", or just "read" if the phase has the workload's name.
  var title: String { BenchmarkText.title(workload: workload, phase: phase) }

  /// The throughput; 0 if it was not measured.
  var speed: Double { figures?.throughput.median ?? 0 }
}
