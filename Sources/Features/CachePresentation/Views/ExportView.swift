public import CacheDomain

/// The result of an export.
public struct ExportView: SingleRecordView {
  /// The name of the backend that was read.
  public let backend: String
  /// The file that was written; `nil` for the standard output.
  public let file: String?
  /// The number of entries written.
  public let exported: Int
  /// The sum of the sizes of their payloads, in bytes.
  public let bytes: Int
  /// The damage, which the export leaves out.
  public let damage: DamageList

  /// The result of an export to `file`.
  public init(backend: String, file: String?, exported: Int, bytes: Int, damage: DamageList = DamageList()) {
    self.backend = backend
    self.file = file
    self.exported = exported
    self.bytes = bytes
    self.damage = damage
  }

  /// The document: "backend", "file", "exported", "bytes" and "damaged".
  public var json: JSONValue {
    [
      "backend": .string(backend), "file": JSONValue(file), "exported": .integer(exported), "bytes": .integer(bytes),
      "damaged": .integer(damage.count),
    ]
  }

  /// One line, such as "Exported 12 entries (1.4 MiB) of ENGINE to cache.ndjson".
  public func table(on screen: Screen, hasHeader: Bool) -> String { TerminalText.line(summary) + "\n" }

  /// The same line as a remark, for an export to the standard output.
  public var remark: StatusLine { StatusLine([summary]) }

  private var summary: String {
    let entries = NumberText.count(exported, "entry", "entries")
    return "Exported \(entries) (\(ByteCountText.text(bytes))) of \(backend)" + (file.map { " to \($0)" } ?? "")
  }

  /// The error that entries are missing from the export; `nil` if none is.
  public var failure: CacheError? { damage.failure(of: backend, not: "exported") }
}
