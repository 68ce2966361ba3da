internal import CacheDomain
internal import StorageSPI

/// What becomes of entries that another store, or a file, has as well.
struct EntryWriter {
  /// What was done with the entries given.
  struct Counts: Sendable, Hashable {
    /// Entries that were written, or would be.
    var written = 0
    /// The sum of the sizes of their payloads, in bytes.
    var bytes = 0
    /// Entries that were there already, exactly so.
    var present = 0
    /// Entries in place of which a newer one was kept.
    var kept = 0

    static func + (left: Counts, right: Counts) -> Counts {
      Counts(
        written: left.written + right.written, bytes: left.bytes + right.bytes, present: left.present + right.present,
        kept: left.kept + right.kept)
    }
  }

  /// How many entries are written at once at most: an engine that writes whole files wants large batches.
  private static let batchEntries = 4_096
  /// The size of their payloads, in bytes, from which on they are written.
  private static let batchBytes = 4 << 20
  /// How often a batch begins again because somebody else has written one of its entries.
  private static let attempts = 100

  /// The store that is written; `nil` where there is none yet, and none is to be made.
  private let store: EntryStore?
  private let isOverwriting: Bool
  private let isDryRun: Bool
  private var pending: [ExportedEntry] = []
  private var pendingKeys: Set<CacheKey> = []
  private var pendingBytes = 0
  /// What a dry run would have written by now, by the digests of keys; `nil` where no key comes twice. Cost: some forty
  /// bytes an entry.
  private var planned: [UInt64: (storedAt: Timestamp, checksum: UInt64)]?

  /// What was done so far with all entries that no longer wait.
  private(set) var counts = Counts()

  /// What the store was given, such as "12 entries were imported".
  func summary(_ verb: String) -> String { EntryProgress.text(isDryRun ? 0 : counts.written, verb) }

  /// The error that `work` was cancelled, which says how far it came.
  func interruption(of work: String, _ verb: String) -> CacheError {
    .interruption(of: work, summary(verb), hint: "repeat it: what is there already is skipped")
  }

  /// A writer to `store`. An entry that was stored later than the one given is kept unless `options` overwrite it. With
  /// `keysMayRepeat` a dry run counts an entry whose key came before as if that one had been written.
  init(to store: EntryStore?, _ options: TransferOptions, keysMayRepeat: Bool = false) {
    self.store = store
    planned = options.isDryRun && keysMayRepeat ? [:] : nil
    (isOverwriting, isDryRun) = (options.overwrites, options.isDryRun)
  }

  /// Writes `entry` sooner or later, together with others.
  ///
  /// - Throws: `CacheError` with the code of the engine's failure; then nothing of what waits was written.
  mutating func add(_ entry: ExportedEntry) async throws(CacheError) {
    if !pending.isEmpty, pendingBytes + entry.payload.count > Self.batchBytes || pendingKeys.contains(entry.key) {
      try await flush()
    }
    pending.append(entry)
    pendingKeys.insert(entry.key)
    pendingBytes += entry.payload.count
    if pending.count >= Self.batchEntries || pendingBytes >= Self.batchBytes { try await flush() }
  }

  /// Writes what waits, all of it or nothing.
  mutating func flush() async throws(CacheError) {
    do throws(StorageError) { counts = counts + (try await write()) } catch { throw CacheError(error) }
    if !isDryRun { try restoreUses() }
    (pending, pendingKeys, pendingBytes) = ([], [], 0)
    await store?.engine.releaseMemory()
  }

  private mutating func write() async throws(StorageError) -> Counts {
    for _ in 1..<Self.attempts {
      do throws(StorageError) { return try await writeOnce() } catch { if error.code != .conflict { throw error } }
    }
    return try await writeOnce()
  }

  /// The batch has no bounds: what is moved is to arrive, and the next fetch that stores something keeps the bounds.
  private mutating func writeOnce() async throws(StorageError) -> Counts {
    var (batch, counts) = (WriteBatch(), Counts())
    for entry in pending {
      switch try await finding(for: entry) {
      case .present: counts.present += 1
      case .newer: counts.kept += 1
      case .writable(let expectation):
        if let expectation { batch.require(entry.key, expectation) }
        batch.put(entry.key, payload: entry.payload, metadata: entry.metadata)
        planned?[UseRecord.digest(of: entry.key)] = (entry.metadata.storedAt, entry.metadata.checksum)
        counts.written += 1
        counts.bytes += entry.payload.count
      }
    }
    if !isDryRun, let store, !batch.operations.isEmpty { try await store.engine.apply(batch) }
    return counts
  }

  /// What is there in place of an entry.
  private enum Finding {
    /// The very same.
    case present
    /// One that is to be kept.
    case newer
    /// Nothing that is worth keeping, if it still is as it was found.
    case writable(WriteBatch.Expectation?)
  }

  private func finding(for entry: ExportedEntry) async throws(StorageError) -> Finding {
    if let planned = planned?[UseRecord.digest(of: entry.key)] {
      if planned.checksum == entry.metadata.checksum { return .present }
      return isKept(planned.storedAt, besides: entry) ? .newer : .writable(nil)
    }
    guard let store else { return .writable(.absent) }
    let found: EntryMetadata?
    do throws(StorageError) {
      found = try await store.verifiedMetadata(entry.key)
    } catch {
      // In place of what cannot be read comes what can.
      guard error.code == .damaged else { throw error }
      return .writable(nil)
    }
    guard let found else { return .writable(.absent) }
    if found.isSame(as: entry.metadata) { return .present }
    return isKept(found.storedAt, besides: entry) ? .newer : .writable(.checksum(found.checksum))
  }

  /// Whether what was stored at `storedAt` stays, and `entry` is not written.
  private func isKept(_ storedAt: Timestamp, besides entry: ExportedEntry) -> Bool {
    guard !isOverwriting, let store else { return false }
    return store.isNewer(storedAt, than: entry.metadata.storedAt)
  }

  /// The use of entries that were there already is raised too: a transfer that was interrupted may have come to the
  /// entries and not to their use.
  private func restoreUses() throws(CacheError) {
    var known: [CacheKey: EntryUse] = [:]
    for entry in pending { known[entry.key] = entry.use }
    if !known.isEmpty { try store?.uses.restore(known) }
  }
}
