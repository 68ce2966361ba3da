public import CacheDomain

/// What an export wrote.
public struct ExportView: SingleRecordView {
  /// The name of the backend that was read.
  public let backend: String
  /// The file that was written; `nil` for the standard output.
  public let file: String?
  /// The number of entries written.
  public let exported: Int
  /// The sum of the sizes of their payloads, in bytes.
  public let bytes: Int
  /// What was left out because it is damaged.
  public let damage: DamageList

  /// An export with the given fields.
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

  /// One line, such as "Exported 12 entries (1.4 MiB) of sqlite to cache.ndjson".
  public func table(on screen: Screen, hasHeader: Bool) -> String { TerminalText.line(summary) + "\n" }

  /// The same as a remark, for where the entries themselves go to the standard output.
  public var remark: StatusLine { StatusLine([summary]) }

  private var summary: String {
    let entries = NumberText.count(exported, "entry", "entries")
    return "Exported \(entries) (\(ByteCountText.text(bytes))) of \(backend)" + (file.map { " to \($0)" } ?? "")
  }

  /// That entries are missing from the export; `nil` where none is.
  public var failure: CacheError? { damage.failure(of: backend, not: "exported") }
}
