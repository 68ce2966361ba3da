internal import EngineAPI

/// How to write entries to a store that might already have entries under the same keys.
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

/// The result of an export, an import or a migration.
public struct TransferReport: Sendable, Hashable {
  /// The number of entries written; after a dry run, of those that would be.
  public package(set) var written = 0
  /// The total size of their payloads, in bytes.
  public package(set) var bytes = 0
  /// The number of entries that the destination already had, exactly the same.
  public package(set) var present = 0
  /// The number of entries that were not written because the destination has a newer one.
  public package(set) var kept = 0
  /// The number of entries that were not written because they have expired.
  public package(set) var expired = 0
  /// The number of entries that a migration finally read from both stores, and that are the same.
  public package(set) var verified = 0
  /// Damaged entries of the source, which were left out.
  public package(set) var damaged = KeySample()
  /// The entries that differ between source and destination after a migration.
  public package(set) var different = KeySample()

  package init() {}
}

/// Called with the progress of a transfer: the number of entries done, and the total if it is known.
public typealias TransferProgress = (_ done: Int, _ total: Int?) -> Void

/// Writes entries from another store or a file, unless the store has them already.
struct EntryWriter {
  /// How many entries to write in one batch: an engine that writes whole files wants large batches.
  private static let batchEntries = 4_096
  /// The total payload size at which a batch is written, in bytes.
  private static let batchBytes = 4 << 20
  /// How often a batch starts again because another writer has changed one of its entries.
  private static let attempts = 100

  /// The store to write to; `nil` for a dry run to a store that does not exist.
  private let store: EntryStore?
  private let options: TransferOptions
  private var pending: [ExportedEntry] = []
  private var pendingKeys: Set<CacheKey> = []
  private var pendingBytes = 0

  /// The results of all entries that are no longer pending.
  var report = TransferReport()

  /// Creates a writer to `store`. It keeps an entry that was stored later than the given one, unless `options` say to
  /// overwrite it. A dry run does not notice that a key occurs twice.
  init(to store: EntryStore?, _ options: TransferOptions) {
    self.store = store
    self.options = options
  }

  /// The number of written entries, as a phrase such as "12 entries were imported".
  func summary(_ verb: String) -> String { EntryProgress.text(options.isDryRun ? 0 : report.written, verb) }

  /// The error for `work` that was cancelled, with the progress it made.
  func interruption(of work: String, _ verb: String) -> CacheError {
    .interruption(of: work, summary(verb), hint: "repeat it: entries that are there already are skipped")
  }

  /// Writes `entry`, now or later, in a batch with others, unless it has expired at `time`.
  ///
  /// - Throws: `CacheError` with the code of the engine's failure; then none of the pending entries was written.
  mutating func add(_ entry: ExportedEntry, unlessExpiredAt time: Timestamp? = nil) async throws(CacheError) {
    if let time, entry.metadata.state(at: time) == .expired {
      report.expired += 1
      return
    }
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
    // A new store has none of them: no lookup is needed for each one.
    var presumesAbsence = !options.isDryRun
    var attempt = 1
    while true {
      do throws(CacheError) {
        report = try await write(presumingAbsence: presumesAbsence)
        break
      } catch {
        let isPresent = error.code == .conflict || presumesAbsence && error.code == .damaged
        guard isPresent, attempt < Self.attempts else { throw error }
      }
      presumesAbsence = false
      attempt += 1
    }
    if !options.isDryRun {
      // Also of entries that the store already had: an interrupted transfer might not have written their uses.
      let uses = pending.reduce(into: [CacheKey: AccessHistory]()) { $0[$1.key] = $1.history }
      if !uses.isEmpty { try store?.uses.restore(uses) }
    }
    pending = []
    pendingKeys = []
    pendingBytes = 0
  }

  /// The batch has no bounds: a transfer must not lose entries. The next fetch that stores something restores the
  /// bounds.
  private func write(presumingAbsence: Bool) async throws(CacheError) -> TransferReport {
    var batch = WriteBatch()
    var report = report
    for entry in pending {
      var expectation: WriteBatch.Expectation? = .absent
      do throws(CacheError) {
        if !presumingAbsence, let found = try await store?.intactMetadata(entry.key) {
          if found == entry.metadata {
            report.present += 1
            continue
          }
          if !options.overwrites, store?.isNewer(found.storedAt, than: entry.metadata.storedAt) == true {
            report.kept += 1
            continue
          }
          expectation = .checksum(found.checksum)
        }
      } catch {
        // A readable entry replaces an unreadable one.
        guard error.code == .damaged else { throw error }
        expectation = nil
      }
      if let expectation { batch.require(entry.key, expectation) }
      batch.put(entry.key, payload: entry.payload, metadata: entry.metadata)
      report.written += 1
      report.bytes += entry.payload.count
    }
    if !options.isDryRun, let store, !batch.operations.isEmpty { try await store.engine.apply(batch) }
    return report
  }
}

extension EntryStore {
  /// The metadata of the entry under `key`; `nil` if there is none.
  ///
  /// - Throws: `CacheError`: `damaged` if the entry is not intact, or the engine's failure.
  func intactMetadata(_ key: CacheKey) async throws(CacheError) -> EntryMetadata? {
    try await engine.read(key) { bytes, metadata throws(CacheError) in
      try metadata.verify(key: key, payload: bytes)
      return metadata
    }
  }

  /// Whether an entry stored at `left` is newer than one stored at `right`. An entry stored ahead of the clock has an
  /// unknown age (see `EntryAge`), and counts as older than any entry of known age.
  func isNewer(_ left: Timestamp, than right: Timestamp) -> Bool {
    let latest = clock.now.advanced(by: EntryAge.tolerance)
    guard (left > latest) == (right > latest) else { return left < right }
    return left > right
  }
}
