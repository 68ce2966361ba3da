/// What a removal removed, or would remove.
public struct RemovalView: SingleRecordView {
  private let backend: String
  private let removed: Int
  private let bytes: Int
  private let missing: [String]
  private let isDryRun: Bool

  /// The view of the removal of `removed` entries with payloads of `bytes` bytes from the store called `backend`, where
  /// nothing was found under the keys `missing`; with `isDryRun` nothing was done yet.
  public init(backend: String, removed: Int, bytes: Int, missing: [String], isDryRun: Bool) {
    self.backend = backend
    self.removed = removed
    self.bytes = bytes
    self.missing = missing
    self.isDryRun = isDryRun
  }

  /// The keys under which there was nothing to remove.
  public var missingKeys: [String] { missing }

  /// The document: "backend", "removed", "bytes", "missing" and "dryRun".
  public var json: JSONValue {
    [
      "backend": .string(backend), "removed": .integer(removed), "bytes": .integer(bytes),
      "missing": JSONValue(missing), "dryRun": .boolean(isDryRun),
    ]
  }

  /// One line, such as "Removed 12 entries (1.4 MiB) from sqlite".
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let entries = NumberText.count(removed, "entry", "entries")
    let verb = isDryRun ? "Would remove" : "Removed"
    return TerminalText.line("\(verb) \(entries) (\(ByteCountText.text(bytes))) from \(backend)") + "\n"
  }
}
