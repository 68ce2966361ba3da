internal import EngineSupport
public import FetchVocabulary
public import StorageSPI
internal import Synchronization

/// Collects the uses of entries in memory, and adds them to a `UseLog` in bulk: reading never writes.
///
/// The uses of an entry outlive it, so that an entry that comes back is known.
public final class EntryUses: Sendable {
  /// How many entries to collect before they are added to the log in the background.
  static let maximumPending = 1 << 16
  /// How many uses to collect in a list before they go into a table. A command-line tool ends after one or two, and the
  /// first table costs a process more than all its hits.
  private static let maximumRecent = 64

  private struct State {
    var recent: [UseRecord] = []
    var pending = UseTable()
    /// The uses on their way to the log.
    var leaving = UseTable()
    var flush: Task<Void, Never>?
    var failure: CacheError?

    mutating func add(_ record: UseRecord) {
      recent.append(record)
      if recent.count >= EntryUses.maximumRecent { gather() }
    }

    mutating func gather() {
      for record in recent { pending.add(record) }
      recent.removeAll(keepingCapacity: true)
    }
  }

  private let log: any UseLog
  private let executor = BlockingExecutor()
  private let state = Mutex(State())

  /// Creates an empty collection whose uses will be added to `log`.
  public init(log: any UseLog = MemoryUseLog()) {
    self.log = log
  }

  /// Records a use of the entry under `key` at `now`. Cost: hashing the key, and a lock.
  package func record(_ key: CacheKey, at now: Timestamp) {
    record(digest: UseRecord.digest(of: key), at: now)
  }

  /// Records a use in the same way, by the digest of the key. Cost: a lock.
  func record(digest: UInt64, at now: Timestamp) {
    add(CollectionOfOne(UseRecord(digest: digest, use: EntryUse(lastUsedAt: now, count: 1))))
  }

  /// The uses of the entries under `keys`, in that order; a use with count zero if nothing is known.
  ///
  /// - Throws: `CacheError`: the log failed.
  public func uses(of keys: [CacheKey]) throws(CacheError) -> [EntryUse] {
    let reader = try reader()
    return keys.map { reader.use(of: $0) }
  }

  /// Raises the recorded uses to at least those given, after entries were moved here from another store. Repeating it
  /// changes nothing.
  ///
  /// - Throws: `CacheError`: the log failed.
  public func restore(_ uses: [CacheKey: EntryUse]) throws(CacheError) {
    let reader = try reader()
    add(
      uses.compactMap { key, use in
        let known = reader.use(of: key)
        guard use.count > known.count || use.lastUsedAt > known.lastUsedAt else { return nil }
        let missing = EntryUse(lastUsedAt: use.lastUsedAt, count: max(0, use.count - known.count))
        return UseRecord(digest: UseRecord.digest(of: key), use: missing)
      })
  }

  /// A reader of the uses known now, for many look-ups.
  ///
  /// - Throws: `CacheError`: the log failed.
  func reader() throws(CacheError) -> UseReader {
    let (pending, leaving) = state.withLock { state in
      state.gather()
      return (state.pending, state.leaving)
    }
    return UseReader(pending: pending, leaving: leaving, kept: try log.snapshot())
  }

  /// Adds the collected uses to the log.
  ///
  /// - Throws: `CacheError`: the log failed, now or earlier in the background.
  public func flush() async throws(CacheError) {
    await state.withLock { $0.flush }?.value
    let (records, failure) = state.withLock { state in
      defer { (state.recent, state.pending, state.failure) = ([], UseTable(), nil) }
      return (state.recent + (state.pending.uses.isEmpty ? [] : state.pending.records), state.failure)
    }
    if !records.isEmpty { try log.add(records) }
    if let failure { throw failure }
  }

  private func add(_ records: some Sequence<UseRecord>) {
    state.withLock { state in
      for record in records { state.add(record) }
      guard state.pending.uses.count >= Self.maximumPending, state.leaving.uses.isEmpty else { return }
      (state.pending, state.leaving) = (UseTable(), state.pending)
      state.flush = Task { [state = state.leaving] in await leave(state) }
    }
  }

  /// Adds `table` to the log, on a thread that may block.
  private func leave(_ table: UseTable) async {
    let failure = try? await executor.run { [log] () throws(CacheError) -> CacheError? in
      do throws(CacheError) { try log.add(table.records) } catch { return error }
      return nil
    }
    state.withLock { state in
      state.leaving = UseTable()
      state.failure = state.failure ?? failure.flatMap(\.self)
    }
  }
}

/// The uses of entries at some time.
struct UseReader: Sendable {
  fileprivate let pending: UseTable
  fileprivate let leaving: UseTable
  fileprivate let kept: any UseSnapshot

  /// The use of the entry under `key`; a use with count zero if nothing is known.
  func use(of key: CacheKey) -> EntryUse {
    let digest = UseRecord.digest(of: key)
    var use = kept.use(of: digest) ?? EntryUse()
    if let more = pending.use(of: digest) { use = use + more }
    if let more = leaving.use(of: digest) { use = use + more }
    return use
  }
}
