/// The results of a benchmark of several backends.
public struct BenchmarkView: OutputView {
  let environment: [JSONValue.Member]
  /// The results.
  public let rows: [BenchmarkRow]
  /// The comparison with an earlier run; `nil` if none was asked for.
  public let comparison: BenchmarkComparisonView?
  let isPartial: Bool
  /// Warnings about the results shown.
  public let warnings: [ErrorView]

  /// A view of the results.
  ///
  /// - Parameters:
  ///   - environment: the machine, the versions and the settings, in the order of display.
  ///   - rows: the results; those to compare with each other need not be adjacent.
  ///   - comparison: the comparison with an earlier run; `nil` if none was asked for.
  ///   - isPartial: whether the run was interrupted.
  ///   - warnings: reasons to doubt the figures.
  public init(
    environment: [JSONValue.Member], rows: [BenchmarkRow], comparison: BenchmarkComparisonView? = nil,
    isPartial: Bool = false, warnings: [ErrorView] = []
  ) {
    self.environment = environment
    self.rows = rows
    self.comparison = comparison
    self.isPartial = isPartial
    self.warnings = warnings + (comparison?.warnings ?? [])
  }

  /// The document of `bench`.
  public var json: JSONValue {
    let members: [JSONValue.Member] = [
      .init("environment", .object(environment)), .init("partial", .boolean(isPartial)),
      .init("results", .array(rows.map { .object(BenchmarkDocument.nested($0)) })),
    ]
    return .object(members + (comparison.map { [.init("comparison", $0.json)] } ?? []))
  }

  /// The names of the members of a result.
  public var columns: [String] {
    let row = BenchmarkRow(backend: "", workload: "", phase: "", entries: 0, outcome: .skipped, reason: nil)
    let verdict = comparison == nil ? [] : BenchmarkComparisonView.members(nil)
    return (BenchmarkDocument.flat(row) + verdict).map(\.name)
  }

  /// The results, followed by the ones that only the earlier run has. Latencies and the comparison are flat members,
  /// so that each value has its own column.
  public var records: [JSONValue] {
    guard let comparison else { return rows.map { .object(BenchmarkDocument.flat($0)) } }
    let all = rows + comparison.rows.filter { $0.row.outcome == .missing }.map(\.row)
    return all.map { row in
      .object(BenchmarkDocument.flat(row) + BenchmarkComparisonView.members(comparison.row(of: row)))
    }
  }

  /// One line per backend, grouped by workload: the best of each group is marked, the others have their ratio to it.
  /// Below are the reasons for missing figures, and the comparison with the earlier run.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let table = BenchmarkTable(BenchmarkGroup.groups(of: rows), on: screen).text(on: screen, hasHeader: hasHeader)
    let notes = notes.map { $0.line(on: screen) }.joined()
    let comparison = comparison.map { "\n" + $0.table(on: screen) } ?? ""
    return table + notes + comparison
  }

  /// The reasons for missing figures, once per backend and workload, and the explanation of batch times.
  private var notes: [StatusLine] {
    var texts: [(text: String, style: TextStyle)] = []
    for row in rows where row.figures == nil {
      let text = "\(row.outcome.rawValue): \(row.workload) by \(row.backend): \(row.reason ?? "")"
      guard !texts.contains(where: { $0.text == text }) else { continue }
      texts.append((text, row.outcome.isFailure ? .red : .dim))
    }
    if BenchmarkGroup.groups(of: rows).contains(where: \.hasBatches) { texts.append((BenchmarkText.batchRemark, .dim)) }
    return texts.map { StatusLine([$0.text], style: $0.style) }
  }

  /// Whether the run was interrupted or had failures; otherwise the result of the comparison, or the settings.
  public var status: StatusLine? {
    if isPartial { return StatusLine(["interrupted: the results cover the rounds completed so far"], style: .yellow) }
    let failures = rows.count { $0.outcome.isFailure }
    if failures > 0 {
      let results = NumberText.count(failures, "result is", "results are")
      return StatusLine(["\(results) wrong or failed: they have no figures"], style: .red)
    }
    if let comparison { return comparison.summary }
    return StatusLine(settings)
  }

  private var settings: [String] {
    let names = ["durability", "rounds", "threads", "processes", "seed"]
    return names.compactMap { name in
      environment.first { $0.name == name }.map { "\(name) \(CSVText.field($0.value))" }
    }
  }
}
