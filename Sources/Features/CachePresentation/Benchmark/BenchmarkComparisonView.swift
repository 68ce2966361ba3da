/// The comparison of the results with those saved by an earlier run.
public struct BenchmarkComparisonView: Sendable {
  /// The verdict on a row.
  public enum Verdict: String, Sendable, Hashable, CaseIterable {
    /// Faster, beyond the noise.
    case better
    /// No figures in either run.
    case same
    /// Slower, beyond the noise, or failed for the first time.
    case worse
    /// No difference beyond the noise, or the noise is unknown.
    case cannotTell = "cannot tell"
    /// Measured only in this run.
    case added
    /// Measured only in the earlier run.
    case missing

    fileprivate var style: TextStyle {
      switch self {
      case .better: .green
      case .worse: .red
      case .added, .missing: .yellow
      case .same, .cannotTell: .plain
      }
    }
  }

  /// A row that is in either run.
  public struct Row: Sendable, Hashable {
    /// The row; only its name counts.
    let row: BenchmarkRow
    /// The verdict.
    public let verdict: Verdict
    /// The saved throughput; `nil` if there is none.
    let saved: Double?
    /// The change of the throughput as a share of the saved one; `nil` if one is missing.
    let change: Double?
    /// The factor, less one, that a change must exceed to count; `nil` if there is no change.
    let noise: Double?

    /// A row of the comparison.
    public init(_ row: BenchmarkRow, _ verdict: Verdict, saved: Double?, change: Double?, noise: Double?) {
      (self.row, self.verdict, self.saved, self.change, self.noise) = (row, verdict, saved, change, noise)
    }
  }

  /// The file with the saved results.
  let file: String
  /// What differs in how the two runs were made.
  let differences: [String]
  /// Why the noise of some rows is unknown, each reason once.
  let gaps: [String]
  /// The rows of both runs.
  public let rows: [Row]

  /// A comparison with the results in `file`.
  public init(file: String, differences: [String], gaps: [String] = [], rows: [Row]) {
    (self.file, self.differences, self.gaps, self.rows) = (file, differences, gaps, rows)
  }

  /// The rows that are worse.
  public var worse: [Row] { rows.filter { $0.verdict == .worse } }

  /// The comparison of a row; `nil` if there is none.
  func row(of row: BenchmarkRow) -> Row? {
    rows.first { other in
      other.row.backend == row.backend && other.row.workload == row.workload && other.row.phase == row.phase
        && other.row.entries == row.entries
    }
  }

  /// Why the results may not be comparable, or cannot be judged.
  var warnings: [ErrorView] {
    var warnings = gaps.map { gap in
      ErrorView(
        code: "noiseUnknown", message: "some results cannot be judged: \(gap)",
        hint: "save and compare runs of this version with five rounds or more")
    }
    if !differences.isEmpty {
      warnings.append(
        ErrorView(
          code: "notComparable",
          message: "the results in \(file) were measured differently: \(differences.joined(separator: ", "))",
          hint: "compare runs of one machine with the same options"))
    }
    return warnings
  }

  /// The overall result, for people.
  var summary: StatusLine {
    if worse.isEmpty {
      let unknown = rows.count { $0.verdict == .cannotTell }
      let rest = unknown == 0 ? "" : "; of \(NumberText.count(unknown, "result", "results")) it cannot tell"
      return StatusLine(["nothing is worse than in \(file)\(rest)"], style: unknown == 0 ? .green : .plain)
    }
    let count = NumberText.count(worse.count, "result is", "results are")
    return StatusLine(["\(count) worse than in \(file), beyond the noise"], style: .red)
  }
}

extension BenchmarkComparisonView {
  /// The object in the document.
  var json: JSONValue {
    [
      "file": .string(file), "worse": .boolean(!worse.isEmpty), "differences": JSONValue(differences),
      "rows": .array(rows.map { row in .object(BenchmarkDocument.name(of: row.row) + Self.members(row)) }),
    ]
  }

  /// The members of a row besides its name.
  static func members(_ row: Row?) -> [JSONValue.Member] {
    [
      .init("verdict", JSONValue(row?.verdict.rawValue)),
      .init("savedOperationsPerSecond", row?.saved.map(JSONValue.double) ?? .null),
      .init("change", row?.change.map(JSONValue.double) ?? .null),
      .init("noise", row?.noise.map(JSONValue.double) ?? .null),
    ]
  }

  /// The table for people, under a heading.
  func table(on screen: Screen) -> String {
    let columns: [Table.Column] = [
      .init("Workload", isShrinkable: true), .init("Entries", .right), .init("Backend"), .init("Verdict"),
      .init("Change", .right), .init("Noise", .right), .init("Saved", .right), .init("Now", .right),
    ]
    let heading = StatusLine(["Compared to \(file)"], style: .bold).line(on: screen)
    return heading + Table(columns, rows: rows.map(cells)).text(on: screen)
  }

  private func cells(_ row: Row) -> [Table.Cell] {
    let name = row.row
    return [
      Table.Cell(name.title), Table.Cell(NumberText.text(name.entries)), Table.Cell(name.backend),
      Table.Cell(row.verdict.rawValue, row.verdict.style),
      row.change.map { Table.Cell(BenchmarkText.change($0), row.verdict.style) } ?? Table.Cell(nil),
      Table.Cell(row.noise.map(BenchmarkText.noise), .dim),
      Table.Cell(row.saved.map(BenchmarkText.rate)),
      Table.Cell(name.figures.map { BenchmarkText.rate($0.throughput.median) } ?? name.outcome.rawValue),
    ]
  }
}

extension Table.Cell {
  fileprivate init(_ text: String?, _ style: TextStyle) {
    if let text { self.init(text, style) } else { self.init(nil) }
  }
}
