public import FetchVocabulary
internal import StorageSPI

/// The result of an export.
public struct ExportReport: Sendable, Hashable {
  /// The number of entries written.
  public package(set) var exported = 0
  /// The total size of their payloads, in bytes.
  public package(set) var bytes = 0
  /// Entries that are not what was written, and were left out.
  public package(set) var damaged = KeySample()

  package init() {}
}

/// Writes the entries of a store as lines of JSON, sorted by key. Memory is bounded by a page of keys, the bytes that are
/// read ahead and the largest entry, for stores of any size.
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
  /// Entries that are not what was written are left out and reported. Expired entries that still exist are exported too.
  /// - Throws: `CacheError`: the engine failed, what `write` throws, or `cancelled`.
  public func run(
    _ selection: EntrySelection, progress: TransferProgress, to write: ([UInt8]) throws(CacheError) -> Void
  ) async throws(CacheError) -> ExportReport {
    let total = selection == EntrySelection() ? try await store.count() : nil
    var (report, lines) = (ExportReport(), [UInt8]())
    var reading = EntryReading(store, selection)
    while let entry = try await next(of: &reading, after: lines, write) {
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
    report.damaged = reading.damaged
    return report
  }

  /// The next entry. If the store is damaged there, writes `lines` first.
  private func next(
    of reading: inout EntryReading, after lines: [UInt8], _ write: ([UInt8]) throws(CacheError) -> Void
  ) async throws(CacheError) -> ExportedEntry? {
    do throws(CacheError) { return try await reading.next() } catch {
      if error.code == .damaged, !lines.isEmpty { try write(lines) }
      throw error
    }
  }
}
