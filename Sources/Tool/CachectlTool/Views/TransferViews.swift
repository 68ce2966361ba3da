internal import FetchVocabulary
internal import CachePresentation
internal import CacheCore

/// The result of an export.
struct ExportView: SingleRecordView {
  /// The name of the backend that was read.
  let backend: String
  /// The file that was written; `nil` for the standard output.
  let file: String?
  /// What was written, and what damage was left out.
  let report: TransferReport

  /// The document: "backend", "file", "exported", "bytes" and "damaged".
  var json: JSONValue {
    [
      "backend": .string(backend), "file": JSONValue(file), "exported": .integer(report.written),
      "bytes": .integer(report.bytes), "damaged": .integer(report.damaged.count),
    ]
  }

  /// One line, such as "Exported 12 entries (1.4 MiB) of ENGINE to cache.ndjson".
  func table(on screen: Screen, hasHeader: Bool) -> String { TerminalText.line(summary) + "\n" }

  /// The same line as a remark, for an export to the standard output.
  var remark: StatusLine { StatusLine([summary]) }

  private var summary: String {
    "Exported \(NumberText.entries(report.written, report.bytes)) of \(backend)" + (file.map { " to \($0)" } ?? "")
  }

  /// The error that entries are missing from the export; `nil` if none is.
  var failure: CacheError? { report.damaged.damage(of: backend, not: "exported") }
}

/// The result of an import or of its dry run.
struct ImportView: SingleRecordView {
  /// The name of the backend that was written.
  let backend: String
  /// What was written and skipped.
  let report: TransferReport
  /// Whether entries were only counted, not written.
  let isDryRun: Bool
  /// Further warnings.
  var warnings: [ErrorView] = []

  /// The document: "backend", "imported", "skipped" (for any reason), "kept" and "expired" (two of the reasons),
  /// "bytes" and "dryRun".
  var json: JSONValue {
    [
      "backend": .string(backend), "imported": .integer(report.written),
      "skipped": .integer(report.present + report.kept + report.expired), "kept": .integer(report.kept),
      "expired": .integer(report.expired), "bytes": .integer(report.bytes), "dryRun": .boolean(isDryRun),
    ]
  }

  /// One line, such as "Imported 12 entries (1.4 MiB) into ENGINE".
  func table(on screen: Screen, hasHeader: Bool) -> String {
    let verb = isDryRun ? "Would import" : "Imported"
    return TerminalText.line("\(verb) \(NumberText.entries(report.written, report.bytes)) into \(backend)") + "\n"
  }

  /// Why entries were skipped; `nil` if none was.
  var status: StatusLine? {
    let reasons = [(report.present, "there already"), (report.kept, "older than there"), (report.expired, "expired")]
    let parts = reasons.filter { $0.0 > 0 }.map { "\(NumberText.text($0.0)) \($0.1)" }
    return parts.isEmpty ? nil : StatusLine(parts)
  }
}

/// The result of a migration from one backend to another, or of its dry run.
struct MigrationView: SingleRecordView {
  /// The name of the backend that was read.
  let from: String
  /// The name of the backend that was written.
  let to: String
  /// What was copied, skipped and compared.
  let report: TransferReport
  /// Whether entries were only counted, not written.
  let isDryRun: Bool
  /// Further warnings.
  var warnings: [ErrorView] = []

  private var skipped: Int { report.present + report.kept + report.expired }

  /// The document of `migrate`: "skipped" includes "kept" and "expired".
  var json: JSONValue {
    [
      "from": .string(from), "to": .string(to), "copied": .integer(report.written), "skipped": .integer(skipped),
      "verified": .integer(report.verified), "bytes": .integer(report.bytes), "kept": .integer(report.kept),
      "expired": .integer(report.expired), "damaged": .integer(report.damaged.count),
      "different": .integer(report.different.count), "dryRun": .boolean(isDryRun),
    ]
  }

  /// The figures, one per line, with reasons and failures if there were any.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    var fields: [(name: String, value: Table.Cell)] = [
      ("From", .init(from, .bold)), ("To", .init(to, .bold)),
      (isDryRun ? "To copy" : "Copied", .init(NumberText.text(report.written), .plain)),
      ("Skipped", .init(skippedText, .plain)),
    ]
    if !isDryRun { fields.append(("Verified", .init(NumberText.text(report.verified), .plain))) }
    fields.append(("Payload", Details.bytes(report.bytes)))
    for (name, count) in [("Damaged", report.damaged.count), ("Different", report.different.count)] where count > 0 {
      fields.append((name, .init(NumberText.text(count), .red)))
    }
    return Details.text(fields, on: screen)
  }

  private var skippedText: String {
    let reasons = [(report.kept, "older than there"), (report.expired, "expired")].filter { $0.0 > 0 }
    let text = reasons.map { "\(NumberText.text($0.0)) \($0.1)" }.joined(separator: ", ")
    return NumberText.text(skipped) + (text.isEmpty ? "" : " (\(text))")
  }

  /// Whether everything was copied, as far as it was compared.
  var status: StatusLine? {
    if isDryRun { return StatusLine(["Nothing was copied: this was a dry run"]) }
    guard failure == nil else { return nil }
    let what = "\(to) has every entry of \(from)" + (report.kept > 0 ? " or a newer one" : "")
    return StatusLine(["\(what): they were compared one by one"], style: .green)
  }

  /// The error that entries are missing from the destination, or differ there; `nil` if all is well.
  var failure: CacheError? {
    report.different.failure(
      "of \(to)", ("is", "are"), "not as in \(from)", hint: "migrate again: what is there is skipped")
      ?? report.damaged.damage(of: from, not: "copied")
  }
}

extension NumberText {
  /// A number of entries and the size of their payloads, such as "12 entries (1.4 MiB)".
  static func entries(_ count: Int, _ bytes: Int) -> String {
    "\(NumberText.count(count, "entry", "entries")) (\(ByteCountText.text(bytes)))"
  }
}
