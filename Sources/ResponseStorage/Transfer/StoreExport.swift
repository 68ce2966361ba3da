public import CacheDomain
internal import StorageSPI

/// What an export wrote.
public struct ExportReport: Sendable, Hashable {
  /// The number of entries written.
  public internal(set) var exported = 0
  /// The sum of the sizes of their payloads, in bytes.
  public internal(set) var bytes = 0
  /// What was left out because it is damaged.
  public internal(set) var damage = StoreDamage()
}

/// Writes the entries of a store as lines of JSON, in the order of their keys. Memory stays bounded by a page of keys
/// and the largest entry, whatever the size of the store.
public struct StoreExport: Sendable {
  /// How many bytes are written at once, as far as lines are short.
  private static let bufferSize = 1 << 16

  private let store: EntryStore

  /// The export of `store`.
  public init(_ store: EntryStore) {
    self.store = store
  }

  /// Gives the lines of the selected entries to `write`, several at a time. Leases are left out.
  ///
  /// What is damaged is left out, and named in the report. Expired entries that are still there are entries like others.
  /// - Throws: `CacheError`: the engine failed, what `write` throws, or `cancelled`.
  public func run(
    _ selection: EntrySelection, progress: TransferProgress, to write: ([UInt8]) throws(CacheError) -> Void
  ) async throws(CacheError) -> ExportReport {
    let total = selection == EntrySelection() ? try await store.count() : nil
    var (report, lines) = (ExportReport(), [UInt8]())
    var reading = EntryReading(store, selection)
    while let entry = try await reading.next() {
      entry.encode(to: &lines)
      report.exported += 1
      report.bytes += entry.payload.count
      if lines.count >= Self.bufferSize {
        try write(lines)
        lines.removeAll(keepingCapacity: lines.capacity < 1 << 20)
      }
      progress(report.exported, total)
    }
    if !lines.isEmpty { try write(lines) }
    report.damage = reading.damage
    return report
  }
}
