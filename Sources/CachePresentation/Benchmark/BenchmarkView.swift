/// What was measured of several backends.
public struct BenchmarkView: OutputView {
  let environment: [JSONValue.Member]
  /// The results.
  public let rows: [BenchmarkRow]
  /// How they stand to those of an earlier run; `nil` where that is of no interest.
  public let comparison: BenchmarkComparisonView?
  let isPartial: Bool
  /// What did not keep the results from being shown, but ought to be known.
  public let warnings: [ErrorView]

  /// A view.
  ///
  /// - Parameters:
  ///   - environment: the machine, the versions and the settings, in the order in which they are shown.
  ///   - rows: the results; those that compare with each other need not stand together.
  ///   - comparison: how they stand to those of an earlier run; `nil` where that is of no interest.
  ///   - isPartial: whether the run was interrupted before its end.
  ///   - warnings: what makes the figures doubtful.
  public init(
    environment: [JSONValue.Member], rows: [BenchmarkRow], comparison: BenchmarkComparisonView? = nil,
    isPartial: Bool = false, warnings: [ErrorView] = []
  ) {
    self.environment = environment
    self.rows = rows
    self.comparison = comparison
    self.isPartial = isPartial
    self.warnings = warnings + [comparison?.warning].compactMap(\.self)
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

  /// The results, those that are only in the earlier run last. The latencies lie beside the other members, so that each
  /// has a column of its own, and so does the comparison.
  public var records: [JSONValue] {
    guard let comparison else { return rows.map { .object(BenchmarkDocument.flat($0)) } }
    let all = rows + comparison.rows.filter { $0.row.outcome == .missing }.map(\.row)
    return all.map { row in
      .object(BenchmarkDocument.flat(row) + BenchmarkComparisonView.members(comparison.row(of: row)))
    }
  }

  /// A line for each backend, grouped by workload: the best of each group is marked, the others have the ratio to it.
  /// Below it why some have no figures, and how all stand to those of the earlier run.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let table = BenchmarkTable(BenchmarkGroup.groups(of: rows), on: screen).text(on: screen, hasHeader: hasHeader)
    let notes = notes.map { $0.line(on: screen) }.joined()
    let comparison = comparison.map { "\n" + $0.table(on: screen) } ?? ""
    return table + notes + comparison
  }

  /// Why some rows have no figures, once for each backend and workload; and what the times of batches are.
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

  /// What the figures stand for.
  public var status: StatusLine? {
    if isPartial { return StatusLine(["interrupted: the results are those of the rounds until then"], style: .yellow) }
    let failures = rows.count { $0.outcome.isFailure }
    if failures > 0 {
      let results = NumberText.count(failures, "result is", "results are")
      return StatusLine(["\(results) wrong or failed: no speed counts there"], style: .red)
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
