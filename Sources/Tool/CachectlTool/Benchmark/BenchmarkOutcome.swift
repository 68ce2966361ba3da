internal import CachePresentation
internal import StorageBenchmark
internal import StorageSPI

/// The outcome of a benchmark.
struct BenchmarkOutcome: Sendable {
  private let report: BenchmarkReport
  private let comparison: BenchmarkComparison?
  private let savedFile: String?
  /// The engines that keep nothing.
  private let controls: [String]

  init(report: BenchmarkReport, controls: [String], savedFile: String?, saved: BenchmarkReport?) {
    self.report = report
    self.controls = controls
    self.savedFile = savedFile
    comparison = saved.map { BenchmarkComparison(saved: $0, now: report) }
  }

  /// Whether the run reached its end.
  var isComplete: Bool { report.isComplete }

  /// Whether an engine failed, or gave a wrong answer.
  var hasFailure: Bool { report.hasFailure }

  /// Whether something is worse than in the saved report; false if there is none.
  var isWorse: Bool { comparison?.isWorse ?? false }

  /// The report as a file, for a later comparison.
  var savedBytes: [UInt8] { report.json() }

  /// The report with its histograms, which it takes to merge the reports of several processes.
  var transferBytes: [UInt8] { report.json(includingHistograms: true) }

  /// The report as an HTML page.
  var page: String { BenchmarkReportPage(view).html }

  /// The view of the outcome.
  var view: BenchmarkView {
    BenchmarkView(
      environment: report.environment.members, rows: report.results.map(row),
      comparison: comparisonView, isPartial: !report.isComplete, warnings: warnings)
  }

  private func row(_ result: BenchmarkResult) -> BenchmarkRow {
    var row = BenchmarkRow(result)
    row.isControl = controls.contains(row.backend)
    return row
  }

  private var comparisonView: BenchmarkComparisonView? {
    guard let comparison, let savedFile else { return nil }
    return BenchmarkComparisonView(
      file: savedFile, differences: comparison.differences, gaps: comparison.gaps,
      rows: comparison.rows.map { row in
        BenchmarkComparisonView.Row(row, now: report.results.first { $0.row == row.row })
      })
  }

  private var warnings: [ErrorView] {
    var warnings: [ErrorView] = []
    if report.environment.facts["build"] == "debug" {
      warnings.append(
        ErrorView(code: "debugBuild", message: "this is a debug build, whose speed says nothing", hint: "use a release")
      )
    }
    if ["tmpfs", "ramfs"].contains(report.environment.machine.fileSystem) {
      warnings.append(
        ErrorView(
          code: "storesInMemory", message: "the stores were on a file system in memory, where nothing is ever synced",
          hint: "set TMPDIR to a folder on a disk"))
    }
    return warnings
  }
}
