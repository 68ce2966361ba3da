internal import CachePresentation
internal import EngineBenchmark

/// How a comparison with the results in a file is shown.
extension BenchmarkComparison {
  private static let columns = ["Workload", "Entries", "Backend", "Verdict", "Change", "Noise", "Saved", "Now"]

  private var worse: Int { rows.count { $0.verdict == .worse } }

  /// Why the results may not be comparable, or cannot be judged.
  func warnings(file: String) -> [ErrorView] {
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
  func summary(file: String) -> StatusLine {
    guard worse == 0 else {
      let count = NumberText.count(worse, "result is", "results are")
      return StatusLine(["\(count) worse than in \(file), beyond the noise"], style: .red)
    }
    let unknown = rows.count { $0.verdict == .cannotTell }
    let rest = unknown == 0 ? "" : "; of \(NumberText.count(unknown, "result", "results")) it cannot tell"
    return StatusLine(["nothing is worse than in \(file)\(rest)"], style: unknown == 0 ? .green : .plain)
  }

  /// The object in the document.
  func json(file: String) -> JSONValue {
    [
      "file": .string(file), "worse": .boolean(isWorse), "differences": JSONValue(differences),
      "rows": .array(rows.map { .object($0.row.members + Self.members($0)) }),
    ]
  }

  /// The members of a row besides its name.
  static func members(_ row: Row?) -> [JSONValue.Member] {
    [
      .init("verdict", JSONValue(row?.verdict.rawValue)), .init("savedOperationsPerSecond", number(row?.saved)),
      .init("change", number(row?.change)), .init("noise", number(row?.noise)),
    ]
  }

  /// The table for people, under a heading.
  func table(on screen: Screen, file: String) -> String {
    let columns = Self.columns.map { name in
      Table.Column(
        name, ["Workload", "Backend", "Verdict"].contains(name) ? .left : .right, isShrinkable: name == "Workload")
    }
    let cells = rows.map { row in
      zip(Self.columns, row.texts).map { name, text in
        switch name {
        case "Verdict", "Change": Table.Cell(text, row.verdict.style)
        case "Noise": Table.Cell(text, .dim)
        default: Table.Cell(text)
        }
      }
    }
    return StatusLine(["Compared to \(file)"], style: .bold).line(on: screen)
      + Table(columns, rows: cells).text(on: screen)
  }

  /// The section of the page: a heading, the remarks, and a table with a verdict for each row.
  func html(file: String) -> String {
    let remarks = warnings(file: file).map { HTMLText.element("p", [("class", "remark")], text: $0.message) }
    let lines = rows.map { HTMLText.row($0.texts, [("class", $0.verdict.rawValue)]) }
    return HTMLText.element("h2", text: "Compared to \(file)") + remarks.joined()
      + HTMLText.table(Self.columns, lines)
  }
}

extension BenchmarkComparison.Row {
  /// The cells of the row.
  fileprivate var texts: [String] {
    [
      row.title, NumberText.text(row.entries), row.backend, verdict.rawValue,
      change.map(BenchmarkText.change) ?? "-", noise.map(BenchmarkText.noise) ?? "-",
      saved.map(BenchmarkText.rate) ?? "-", now.map(BenchmarkText.rate) ?? "-",
    ]
  }
}

extension BenchmarkComparison.Verdict {
  fileprivate var style: TextStyle {
    switch self {
    case .better: .green
    case .worse: .red
    case .added, .missing: .yellow
    case .same, .cannotTell: .plain
    }
  }
}
