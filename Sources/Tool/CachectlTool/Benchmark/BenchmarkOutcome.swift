internal import CachePresentation
internal import EngineBenchmark

/// The outcome of a benchmark: its results, compared with saved ones if there are any, as a command shows them.
struct BenchmarkOutcome: OutputView {
  /// The size limit of a report file, in bytes.
  static let maximumReportSize = 256 << 20

  let report: BenchmarkReport
  let comparison: BenchmarkComparison?
  /// The name of the file with the saved results.
  let savedFile: String
  /// The rows to compare with each other, in the order of their first rows.
  let groups: [BenchmarkGroup]

  /// - Parameter controls: the engines that keep nothing: they only show the cost of measuring, and never count as the
  ///   best.
  init(report: BenchmarkReport, controls: [String] = [], saved: (file: String, report: BenchmarkReport)? = nil) {
    self.report = report
    savedFile = saved?.file ?? ""
    comparison = saved.map { BenchmarkComparison(saved: $0.report, now: report) }
    groups = report.results.reduce(into: []) { groups, result in
      let (title, entries) = (result.row.title, result.row.entries)
      if let index = groups.firstIndex(where: { $0.title == title && $0.entries == entries }) {
        groups[index].rows.append(result)
      } else {
        groups.append(BenchmarkGroup(rows: [result], controls: controls))
      }
    }
  }

  /// Whether something is worse than in the saved report; false if there is none.
  var isWorse: Bool { comparison?.isWorse ?? false }

  /// The rows without figures, each with the reason, once per backend and workload.
  private var notes: [StatusLine] {
    var notes: [StatusLine] = []
    for result in report.results where result.measurement == nil {
      let note = StatusLine(
        ["\(result.outcome.name): \(result.row.workload) by \(result.row.backend): \(result.outcome.reason ?? "")"],
        style: result.isFailure ? .red : .dim)
      if !notes.contains(note) { notes.append(note) }
    }
    return notes + (groups.contains(where: \.hasBatches) ? [StatusLine([BenchmarkText.batchRemark])] : [])
  }

  // MARK: OutputView

  /// The document of `bench`.
  var json: JSONValue {
    .object(report.document + (comparison.map { [.init("comparison", $0.json(file: savedFile))] } ?? []))
  }

  /// The names of the members of a result.
  var columns: [String] {
    BenchmarkResult.flatMembers + (comparison == nil ? [] : BenchmarkComparison.members(nil).map(\.name))
  }

  /// The results, followed by the rows that only the earlier run has. Latencies and the comparison are flat members: each
  /// value has its own column.
  var records: [JSONValue] {
    guard let comparison else { return report.results.map { .object($0.members(areFlat: true)) } }
    return comparison.rows.map { row in
      let result = report.results.first { $0.row == row.row }
      let missing: [JSONValue.Member] = [.init("outcome", "missing"), .init("reason", "only in the saved report")]
      return .object((result?.members(areFlat: true) ?? row.row.members + missing) + BenchmarkComparison.members(row))
    }
  }

  /// One line per backend, grouped by workload: the best of each group is marked if noise cannot have made it the best,
  /// and each has its ratio to the highest.
  /// Below are the reasons for missing figures, and the comparison with the earlier run.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    let table = BenchmarkTable(groups).text(on: screen, hasHeader: hasHeader)
    let notes = notes.map { $0.line(on: screen) }.joined()
    return table + notes + (comparison.map { "\n" + $0.table(on: screen, file: savedFile) } ?? "")
  }

  /// Whether the run was interrupted or had failures; otherwise the result of the comparison, or the settings.
  var status: StatusLine? {
    if !report.isComplete {
      return StatusLine(["interrupted: the results cover the rounds completed so far"], style: .yellow)
    }
    let failures = report.results.count { $0.isFailure }
    if failures > 0 {
      let results = NumberText.count(failures, "result is", "results are")
      return StatusLine(["\(results) wrong or failed: they have no figures"], style: .red)
    }
    if let comparison { return comparison.summary(file: savedFile) }
    let settings = ["durability", "rounds", "threads", "processes", "seed", "policy"].map { name in
      (name: name, text: CSVText.field(report.environment[name] ?? .null))
    }
    return StatusLine(settings.filter { !$0.text.isEmpty }.map { "\($0.name) \($0.text)" })
  }

  /// Reasons to doubt the figures.
  var warnings: [ErrorView] {
    var warnings: [ErrorView] = []
    if report.environment["build"] == "debug" {
      warnings.append(
        ErrorView(code: "debugBuild", message: "this is a debug build, whose speed says nothing", hint: "use a release")
      )
    }
    if let fileSystem = report.environment["fileSystem"], ["tmpfs", "ramfs"].contains(fileSystem) {
      warnings.append(
        ErrorView(
          code: "storesInMemory", message: "the stores were on a file system in memory, which never syncs",
          hint: "set TMPDIR to a folder on a disk"))
    }
    return warnings + (comparison?.warnings(file: savedFile) ?? [])
  }
}

/// The rows to compare with each other: one phase of a workload with the same number of entries, each backend once.
struct BenchmarkGroup: Sendable {
  /// The rows; at least one.
  fileprivate(set) var rows: [BenchmarkResult]
  fileprivate let controls: [String]

  var title: String { rows[0].row.title }
  var entries: Int { rows[0].row.entries }

  /// The title and the number of entries: "ycsb-b run, 1,000 entries".
  var heading: String { "\(title), \(NumberText.count(entries, "entry", "entries"))" }

  /// The throughput to which the others have a ratio: the highest without controls, unless there are only controls.
  var best: Double {
    let engines = rows.filter { !isControl($0) && $0.speed > 0 }
    return (engines.isEmpty ? rows : engines).map(\.speed).max() ?? 0
  }

  /// The length of the bar of `result`, from 0 to 1: the best real engine has all of it, and a control at most as much.
  func share(_ result: BenchmarkResult) -> Double { best > 0 ? min(result.speed / best, 1) : 0 }

  /// The unit of the latencies: "an operation", or "a batch of 1,000 operations" if that is what the backends do per
  /// call.
  var measuredCall: String {
    let operations = rows.compactMap(\.measurement?.operationsPerCall).max() ?? 1
    return operations > 1 ? "a batch of \(NumberText.text(operations)) operations" : "an operation"
  }

  /// Whether some calls did several operations.
  var hasBatches: Bool { rows.contains { ($0.measurement?.operationsPerCall ?? 1) > 1 } }

  /// Whether the stores were bounded: hits are counted.
  var hasHits: Bool { rows.contains { $0.measurement?.hitRatio != nil } }

  func isControl(_ result: BenchmarkResult) -> Bool { isControl(result.row.backend) }

  func isControl(_ backend: String) -> Bool { controls.contains(backend) }

  /// Whether `result` is the best one beyond the noise: the slowest of its rounds was faster than the fastest of every
  /// other backend's. A single round says nothing about noise.
  func isBest(_ result: BenchmarkResult) -> Bool {
    guard result.speed > 0, result.speed == best, let figures = result.measurement, figures.rounds.count > 1,
      let own = figures.throughput
    else { return false }
    let others = rows.filter { $0.row != result.row && (!isControl($0) || isControl(result)) && $0.speed > 0 }
    return others.allSatisfy { other in other.measurement?.throughput.map { own.minimum > $0.maximum } ?? true }
  }
}

extension BenchmarkResult {
  /// The throughput; 0 if it was not measured.
  var speed: Double { measurement?.throughput?.median ?? 0 }
}
