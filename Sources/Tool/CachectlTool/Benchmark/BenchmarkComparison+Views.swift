internal import CachePresentation
internal import EngineBenchmark

/// How a comparison with the results in a file is shown.
extension BenchmarkComparison {
  private static let columns = ["Workload", "Entries", "Backend", "Verdict", "Change", "Noise", "Saved", "Now"]

  /// Why the results might not be comparable, or cannot be judged.
  func warnings(file: String) -> [ErrorView] {
    var warnings: [ErrorView] = []
    if hasUnknownNoise {
      warnings.append(
        ErrorView(
          code: "noiseUnknown",
          message: "some results cannot be judged: fewer than five rounds, or one without operations, show no noise",
          hint: "save and compare runs of five rounds or more"))
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
    let worse = rows.count { $0.verdict == .worse }
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
      .init("verdict", JSONValue(row?.verdict.rawValue)), .init("savedOperationsPerSecond", JSONValue(row?.saved)),
      .init("change", JSONValue(row?.change)), .init("noise", JSONValue(row?.noise)),
    ]
  }

  /// The table for people, under a heading.
  func table(on screen: Screen, file: String) -> String {
    let columns = Self.columns.map { name in
      Table.Column(
        name, ["Workload", "Backend", "Verdict"].contains(name) ? .left : .right, isShrinkable: name == "Workload")
    }
    let cells = rows.map { row in
      zip(Self.columns, Self.texts(row)).map { name, text in
        switch name {
        case "Verdict", "Change": Table.Cell(text, Self.style(row.verdict))
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
    let lines = rows.map { HTMLText.row(Self.texts($0), [("class", $0.verdict.rawValue)]) }
    return HTMLText.element("h2", text: "Compared to \(file)") + remarks.joined()
      + HTMLText.table(Self.columns, lines)
  }

  private static func texts(_ comparison: Row) -> [String] {
    let row = comparison.row
    return [
      row.title, NumberText.text(row.entries), row.backend, comparison.verdict.rawValue,
      comparison.change.map(BenchmarkText.change) ?? "-", comparison.noise.map(BenchmarkText.noise) ?? "-",
      comparison.saved.map(BenchmarkText.rate) ?? "-", comparison.now.map(BenchmarkText.rate) ?? "-",
    ]
  }

  private static func style(_ verdict: Verdict) -> TextStyle {
    switch verdict {
    case .better: .green
    case .worse: .red
    case .added, .missing: .yellow
    case .same, .cannotTell: .plain
    }
  }
}
