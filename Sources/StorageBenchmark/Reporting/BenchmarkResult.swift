/// What came of one phase of a workload over one engine, with some number of entries.
public struct BenchmarkResult: Sendable, Hashable {
  /// How it ended.
  public enum Outcome: Sendable, Hashable {
    /// Every answer was right: this is what it cost.
    case measured(BenchmarkMeasurement)
    /// The engine gave an answer that cannot be true, which this is; its speed is of no interest then.
    case wrong(String)
    /// The engine failed, with this error.
    case failed(String)
    /// The engine cannot do the workload, for this reason.
    case skipped(String)
  }

  /// Which row of a report it is.
  public struct Row: Sendable, Hashable {
    /// The engine.
    public let backend: String
    /// The workload.
    public let workload: String
    /// The phase of the workload.
    public let phase: String
    /// The number of entries of the load.
    public let entries: Int

    /// A row with the given fields.
    public init(backend: String, workload: String, phase: String, entries: Int) {
      (self.backend, self.workload, self.phase, self.entries) = (backend, workload, phase, entries)
    }
  }

  /// Which row of the report it is.
  public let row: Row
  /// How it ended.
  public let outcome: Outcome

  /// A result with the given fields.
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
