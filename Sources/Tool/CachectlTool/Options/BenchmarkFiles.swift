internal import CommandLineKit
internal import FetchVocabulary
internal import EngineBenchmark

/// The files that `bench` reads and writes.
struct BenchmarkFiles: ParsableArguments {
  @Option(
    help: ArgumentHelp("Write the results to FILE as a page for browsers", valueName: "file"),
    completion: .file(extensions: ["html"]))
  var report: String?

  @Option(
    help: ArgumentHelp("Save the results to FILE, to compare with later", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var save: String?

  @Option(
    help: ArgumentHelp("Compare each result with the one in FILE", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var compare: String?

  func validate() throws(ValidationError) {
    if let report, report == save { throw ValidationError("--report and --save name the same file, \(report)") }
  }

  /// The report to compare with; `nil` if there is none.
  ///
  /// - Throws: `CacheError`: `ioFailed`, `malformed`.
  func saved() throws(CacheError) -> (file: String, report: BenchmarkReport)? {
    guard let compare else { return nil }
    let bytes = try InputFile.bytes(of: compare, limit: BenchmarkOutcome.maximumReportSize)
    return (compare, try BenchmarkReport(json: bytes, file: compare))
  }

  /// Opens the files to be written.
  ///
  /// - Throws: `CacheError`: `ioFailed`, `noSpace`.
  func begin() throws(CacheError) -> PendingResults {
    PendingResults(
      report: try report.map { path throws(CacheError) in try PendingFile(path) },
      save: try save.map { path throws(CacheError) in try PendingFile(path) })
  }
}

/// The files that receive the results of a benchmark.
struct PendingResults {
  let report: PendingFile?
  let save: PendingFile?

  /// Writes the files. An interrupted run keeps the saved results of an earlier one: part of a run is no basis for
  /// comparison.
  ///
  /// - Throws: `CacheError`: `ioFailed`, `noSpace`.
  func finish(_ outcome: BenchmarkOutcome) throws(CacheError) {
    try report?.finish(Array(BenchmarkReportPage(outcome).html.utf8))
    if outcome.report.isComplete { try save?.finish(outcome.report.json()) }
  }
}
