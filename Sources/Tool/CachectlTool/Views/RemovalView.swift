internal import FetchVocabulary
internal import CachePresentation
internal import CacheCore

/// The result of removing entries, or of making them stale, or of the dry run.
struct RemovalView: SingleRecordView {
  private let backend: String
  private let report: RemovalReport
  private let isDryRun: Bool
  private let isSoft: Bool

  /// The remark that an empty store replaced one from which no entry could be removed.
  var replacement: String?
  /// The keys and URLs without entries.
  let missing: [String]

  /// The view of `report` about the store called `backend`. The names `missing` had no entries either. With `isDryRun`
  /// nothing has been done; with `isSoft` the entries were made stale.
  init(
    backend: String, _ report: RemovalReport, missing: [String] = [], isDryRun: Bool = false, isSoft: Bool = false
  ) {
    self.backend = backend
    self.report = report
    self.missing = report.missing.map(\.text) + missing
    self.isDryRun = isDryRun
    self.isSoft = isSoft
  }

  /// Whether no entry was there to remove.
  var isEmpty: Bool { report.entries == 0 }

  /// What else was done.
  var status: StatusLine? { replacement.map { StatusLine([$0]) } }

  /// The document: "backend", "removed" (with "soft", made stale), "bytes", "missing", "dryRun" and "soft".
  var json: JSONValue {
    [
      "backend": .string(backend), "removed": .integer(report.entries), "bytes": .integer(report.payloadBytes),
      "missing": JSONValue(missing), "dryRun": .boolean(isDryRun), "soft": .boolean(isSoft),
    ]
  }

  /// One line, such as "Removed 12 entries (1.4 MiB) from ENGINE" or "Made 12 entries (1.4 MiB) of ENGINE stale".
  func table(on screen: Screen, hasHeader: Bool) -> String {
    let entries = NumberText.entries(report.entries, report.payloadBytes)
    let text =
      isSoft
      ? "\(isDryRun ? "Would make" : "Made") \(entries) of \(backend) stale"
      : "\(isDryRun ? "Would remove" : "Removed") \(entries) from \(backend)"
    return TerminalText.line(text) + "\n"
  }

  /// The error that damaged entries were not made stale; `nil` if there are none.
  var failure: CacheError? { report.damaged.damage(of: backend, not: "made stale") }
}
