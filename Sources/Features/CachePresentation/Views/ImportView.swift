/// The result of an import or of its dry run.
public struct ImportView: SingleRecordView {
  /// The name of the backend that was written.
  public let backend: String
  /// The number of entries written.
  public let imported: Int
  /// The sum of the sizes of their payloads, in bytes.
  public let bytes: Int
  /// The number of entries that were already there, identical.
  public let present: Int
  /// The number of entries skipped because the store has a newer one.
  public let kept: Int
  /// The number of entries skipped because they have expired.
  public let expired: Int
  /// Whether entries were only counted, not written.
  public let isDryRun: Bool
  /// Further warnings.
  public var warnings: [ErrorView] = []

  /// The result of an import.
  public init(backend: String, imported: Int, bytes: Int, present: Int, kept: Int, expired: Int, isDryRun: Bool) {
    self.backend = backend
    self.imported = imported
    self.bytes = bytes
    self.present = present
    self.kept = kept
    self.expired = expired
    self.isDryRun = isDryRun
  }

  /// The document: "backend", "imported", "skipped" (for any reason), "kept" and "expired" (two of the reasons),
  /// "bytes" and "dryRun".
  public var json: JSONValue {
    [
      "backend": .string(backend), "imported": .integer(imported), "skipped": .integer(present + kept + expired),
      "kept": .integer(kept), "expired": .integer(expired), "bytes": .integer(bytes), "dryRun": .boolean(isDryRun),
    ]
  }

  /// One line, such as "Imported 12 entries (1.4 MiB) into ENGINE".
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let entries = NumberText.count(imported, "entry", "entries")
    let verb = isDryRun ? "Would import" : "Imported"
    return TerminalText.line("\(verb) \(entries) (\(ByteCountText.text(bytes))) into \(backend)") + "\n"
  }

  /// Why entries were skipped; `nil` if none was.
  public var status: StatusLine? {
    let reasons = [(present, "there already"), (kept, "older than there"), (expired, "expired")]
    let parts = reasons.filter { $0.0 > 0 }.map { "\(NumberText.text($0.0)) \($0.1)" }
    return parts.isEmpty ? nil : StatusLine(parts)
  }
}
