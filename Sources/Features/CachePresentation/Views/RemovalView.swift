public import CacheDomain

/// The result of removing entries, or of making them stale, or of the dry run.
public struct RemovalView: SingleRecordView {
  private let backend: String
  private let removed: Int
  private let bytes: Int
  private let missing: [String]
  private let isDryRun: Bool
  private let isSoft: Bool
  private let damage: DamageList

  /// The remark that an empty store replaced one from which no entry could be removed.
  public var replacement: String?

  /// The view of removing `removed` entries with payloads of `bytes` bytes from the store called `backend`. The names
  /// `missing` had no entries, and `damage` stays as it is. With `isDryRun` nothing has been done; with `isSoft` the
  /// entries were made stale.
  public init(
    backend: String, removed: Int, bytes: Int, missing: [String] = [], damage: DamageList = DamageList(),
    isDryRun: Bool = false, isSoft: Bool = false
  ) {
    self.damage = damage
    self.backend = backend
    self.removed = removed
    self.bytes = bytes
    self.missing = missing
    self.isDryRun = isDryRun
    self.isSoft = isSoft
  }

  /// The keys and URLs without entries.
  public var missingNames: [String] { missing }

  /// What else was done.
  public var status: StatusLine? { replacement.map { StatusLine([$0]) } }

  /// The document: "backend", "removed" (with "soft", made stale), "bytes", "missing", "dryRun" and "soft".
  public var json: JSONValue {
    [
      "backend": .string(backend), "removed": .integer(removed), "bytes": .integer(bytes),
      "missing": JSONValue(missing), "dryRun": .boolean(isDryRun), "soft": .boolean(isSoft),
    ]
  }

  /// One line, such as "Removed 12 entries (1.4 MiB) from ENGINE" or "Made 12 entries (1.4 MiB) of ENGINE stale".
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let entries = "\(NumberText.count(removed, "entry", "entries")) (\(ByteCountText.text(bytes)))"
    let text =
      isSoft
      ? "\(isDryRun ? "Would make" : "Made") \(entries) of \(backend) stale"
      : "\(isDryRun ? "Would remove" : "Removed") \(entries) from \(backend)"
    return TerminalText.line(text) + "\n"
  }

  /// The error that damaged parts were left as they are; `nil` if nothing is damaged.
  public var failure: CacheError? { damage.failure(of: backend, not: isSoft ? "made stale" : "removed") }
}
