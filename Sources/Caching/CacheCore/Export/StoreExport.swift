public import FetchVocabulary
internal import StorageSPI

/// Writes the entries of a store as lines of JSON, in the order in which the engine lists them. Memory is bounded by a page
/// and the largest entry, for stores of any size.
public struct StoreExport: Sendable {
  /// How many bytes to write at once, if lines are short.
  private static let bufferSize = 1 << 16

  private let store: EntryStore

  /// Creates an export of `store`.
  public init(_ store: EntryStore) {
    self.store = store
  }

  /// Passes the lines of the selected entries to `write`, several at a time, without leases. Entries are exported as they
  /// are stored.
  ///
  /// Damaged entries are left out and reported. Expired entries that still exist are exported too.
  /// - Throws: `CacheError`: the engine failed, what `write` throws, or `cancelled`.
  public func run(
    _ selection: EntrySelection, progress: TransferProgress, to write: ([UInt8]) throws(CacheError) -> Void
  ) async throws(CacheError) -> TransferReport {
    let total = selection == EntrySelection() ? try await store.count().entries : nil
    var report = TransferReport()
    var reading = EntryReading(store, selection)
    while let entries = try await reading.next() {
      var lines: [UInt8] = []
      for entry in entries {
        entry.encode(to: &lines)
        report.written += 1
        report.bytes += entry.payload.count
        progress(report.written, total)
        guard lines.count >= Self.bufferSize else { continue }
        try write(lines)
        lines.removeAll(keepingCapacity: lines.capacity < 1 << 20)
      }
      if !lines.isEmpty { try write(lines) }
    }
    report.damaged = reading.damaged
    return report
  }
}
