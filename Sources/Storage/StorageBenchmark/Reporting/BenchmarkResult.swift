/// The result of one phase of a workload over one engine, with a given number of entries.
public struct BenchmarkResult: Sendable, Hashable {
  /// How a phase ended.
  public enum Outcome: Sendable, Hashable {
    /// Every answer was correct, at this cost.
    case measured(BenchmarkMeasurement)
    /// The engine gave this impossible answer, so its speed does not count.
    case wrong(String)
    /// The engine failed, with this error.
    case failed(String)
    /// The engine cannot run the workload, for this reason.
    case skipped(String)
  }

  /// The identity of a row in a report.
  public struct Row: Sendable, Hashable {
    /// The engine.
    public let backend: String
    /// The workload.
    public let workload: String
    /// The phase of the workload.
    public let phase: String
    /// The number of entries that the load stores.
    public let entries: Int

    /// A row of a report.
    public init(backend: String, workload: String, phase: String, entries: Int) {
      (self.backend, self.workload, self.phase, self.entries) = (backend, workload, phase, entries)
    }
  }

  /// The row of the report.
  public let row: Row
  /// How it ended.
  public let outcome: Outcome

  /// The result for `row`.
  public init(row: Row, outcome: Outcome) { (self.row, self.outcome) = (row, outcome) }

  /// What it cost; `nil` if it was not measured.
  public var measurement: BenchmarkMeasurement? {
    if case .measured(let measurement) = outcome { measurement } else { nil }
  }

  /// Whether the engine failed or gave a wrong answer.
  public var isFailure: Bool {
    switch outcome {
    case .measured, .skipped: false
    case .wrong, .failed: true
    }
  }
}
