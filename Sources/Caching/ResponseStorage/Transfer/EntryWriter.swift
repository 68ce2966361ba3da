internal import FetchVocabulary
internal import StorageSPI

/// How to write entries to a store that may already have entries under the same keys.
public struct TransferOptions: Sendable, Hashable {
  /// Whether to overwrite entries that were stored later than the new ones.
  public let overwrites: Bool
  /// Whether only to count what would be done.
  public let isDryRun: Bool

  /// Creates options.
  public init(overwrites: Bool = false, isDryRun: Bool = false) {
    self.overwrites = overwrites
    self.isDryRun = isDryRun
  }
}

/// Called with the progress of a transfer: the number of entries done, and the total if it is known.
public typealias TransferProgress = (_ done: Int, _ total: Int?) -> Void

/// Writes entries from another store or a file, unless the store has them already.
struct EntryWriter {
  /// Counts what became of the given entries.
  struct Counts: Sendable, Hashable {
    /// Entries that were written; in a dry run, that would be.
    var written = 0
    /// The total size of their payloads, in bytes.
    var bytes = 0
    /// Entries that the store already had, exactly the same.
    var present = 0
    /// Entries that were not written because the store has a newer one.
    var kept = 0

    static func + (left: Counts, right: Counts) -> Counts {
      Counts(
        written: left.written + right.written, bytes: left.bytes + right.bytes, present: left.present + right.present,
        kept: left.kept + right.kept)
    }
  }

  /// How many entries to write in one batch: an engine that writes whole files wants large batches.
  private static let batchEntries = 4_096
  /// The total payload size at which a batch is written, in bytes.
  private static let batchBytes = 4 << 20
  /// How often a batch starts again because another writer has changed one of its entries.
  private static let attempts = 100

  /// The store to write to; `nil` for a dry run to a store that does not exist.
  private let store: EntryStore?
  private let isOverwriting: Bool
  private let isDryRun: Bool
  private var pending: [ExportedEntry] = []
  private var pendingKeys: Set<CacheKey> = []
  private var pendingBytes = 0
  /// What a dry run would have written so far, by the digests of keys; `nil` if no key occurs twice. Cost: about forty
  /// bytes for each entry.
  private var planned: [UInt64: (storedAt: Timestamp, checksum: UInt64)]?

  /// What became of all entries that are no longer pending.
  private(set) var counts = Counts()

  /// What has been written, as a phrase such as "12 entries were imported".
  func summary(_ verb: String) -> String { EntryProgress.text(isDryRun ? 0 : counts.written, verb) }

  /// The error for `work` that was cancelled, with the progress it made.
  func interruption(of work: String, _ verb: String) -> CacheError {
    .interruption(of: work, summary(verb), hint: "repeat it: what is there already is skipped")
  }

  /// Creates a writer to `store`. It keeps an entry that was stored later than the given one, unless `options` say to
  /// overwrite it. With `keysMayRepeat`, a dry run treats an entry whose key has occurred before as if the earlier one
  /// had been written.
  init(to store: EntryStore?, _ options: TransferOptions, keysMayRepeat: Bool = false) {
    self.store = store
    planned = options.isDryRun && keysMayRepeat ? [:] : nil
    (isOverwriting, isDryRun) = (options.overwrites, options.isDryRun)
  }

  /// Writes `entry`, now or later, in a batch with others.
  ///
  /// - Throws: `CacheError` with the code of the engine's failure; then none of the pending entries was written.
  mutating func add(_ entry: ExportedEntry) async throws(CacheError) {
    if !pending.isEmpty, pendingBytes + entry.payload.count > Self.batchBytes || pendingKeys.contains(entry.key) {
      try await flush()
    }
    pending.append(entry)
    pendingKeys.insert(entry.key)
    pendingBytes += entry.payload.count
    if pending.count >= Self.batchEntries || pendingBytes >= Self.batchBytes { try await flush() }
  }

  /// Writes the pending entries, all or none.
  mutating func flush() async throws(CacheError) {
    counts = counts + (try await write())
    if !isDryRun { try restoreUses() }
    (pending, pendingKeys, pendingBytes) = ([], [], 0)
    await store?.engine.releaseMemory()
  }

  private mutating func write() async throws(CacheError) -> Counts {
    for _ in 1..<Self.attempts {
      do throws(CacheError) { return try await writeOnce() } catch { if error.code != .conflict { throw error } }
    }
    return try await writeOnce()
  }

  /// The batch has no bounds: a transfer must not lose entries. The next fetch that stores something restores the
  /// bounds.
  private mutating func writeOnce() async throws(CacheError) -> Counts {
    var (batch, counts) = (WriteBatch(), Counts())
    var present = store.map { ReadAhead($0.engine, sizesAreKnown: false) }
    present?.expect(
      pending.map { EntrySummary(key: $0.key, metadata: $0.metadata, payloadBytes: $0.payload.count) })
    for entry in pending {
      switch try await finding(for: entry, &present) {
      case .present: counts.present += 1
      case .newer: counts.kept += 1
      case .writable(let expectation):
        if let expectation { batch.require(entry.key, expectation) }
        batch.put(entry.key, payload: entry.payload, metadata: entry.metadata)
        planned?[AccessRecord.digest(of: entry.key)] = (entry.metadata.storedAt, entry.metadata.checksum)
        counts.written += 1
        counts.bytes += entry.payload.count
      }
    }
    if !isDryRun, let store, !batch.operations.isEmpty { try await store.engine.apply(batch) }
    return counts
  }

  /// What the store holds under an entry's key.
  private enum Finding {
    /// The same entry.
    case present
    /// An entry to keep.
    case newer
    /// Nothing worth keeping, provided that it does not change.
    case writable(WriteBatch.Expectation?)
  }

  private func finding(
    for entry: ExportedEntry, _ present: inout ReadAhead?
  ) async throws(CacheError) -> Finding {
    if let planned = planned?[AccessRecord.digest(of: entry.key)] {
      if planned.checksum == entry.metadata.checksum { return .present }
      return isKept(planned.storedAt, besides: entry) ? .newer : .writable(nil)
    }
    let found: EntryMetadata?
    do throws(CacheError) {
      found = try await present?.verifiedMetadata(entry.key)
    } catch {
      // A readable entry replaces an unreadable one.
      guard error.code == .damaged else { throw error }
      return .writable(nil)
    }
    guard let found else { return .writable(.absent) }
    if found.isSame(as: entry.metadata) { return .present }
    return isKept(found.storedAt, besides: entry) ? .newer : .writable(.checksum(found.checksum))
  }

  /// Whether to keep what was stored at `storedAt` rather than write `entry`.
  private func isKept(_ storedAt: Timestamp, besides entry: ExportedEntry) -> Bool {
    guard !isOverwriting, let store else { return false }
    return store.isNewer(storedAt, than: entry.metadata.storedAt)
  }

  /// Also restores the uses of entries that the store already had: an interrupted transfer may have written the
  /// entries, but not their uses.
  private func restoreUses() throws(CacheError) {
    var known: [CacheKey: AccessHistory] = [:]
    for entry in pending { known[entry.key] = entry.history }
    if !known.isEmpty { try store?.accesses.restore(known) }
  }
}
