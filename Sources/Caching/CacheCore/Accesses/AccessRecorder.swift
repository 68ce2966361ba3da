internal import EngineSupport
public import FetchVocabulary
public import StorageSPI
internal import Synchronization

/// Collects the uses of entries in memory, and adds them to an `AccessLog` in bulk: reading never writes.
///
/// The uses of an entry outlive it, so that an entry that comes back is known.
public final class AccessRecorder: Sendable {
  /// How many entries to collect before they are added to the log in the background.
  static let maximumPending = 1 << 16
  /// How many uses to collect in a list before they go into a table. A command-line tool ends after one or two, and the
  /// first table costs a process more than all its hits.
  private static let maximumRecent = 64

  private struct State {
    var recent: [AccessRecord] = []
    var pending = AccessTable()
    /// The uses on their way to the log.
    var leaving = AccessTable()
    var flush: Task<Void, Never>?
    var failure: CacheError?

    mutating func add(_ record: AccessRecord) {
      recent.append(record)
      if recent.count >= AccessRecorder.maximumRecent { gather() }
    }

    mutating func gather() {
      for record in recent { pending.add(record) }
      recent.removeAll(keepingCapacity: true)
    }
  }

  private let log: any AccessLog
  private let executor = BlockingExecutor()
  private let state = Mutex(State())

  /// Creates a recorder that adds to `log`.
  public init(log: any AccessLog = MemoryAccessLog()) {
    self.log = log
  }

  /// Records a use of the entry under `key` at `now`, without counting a hit; `EntryStore.countLookUp` does both. Cost:
  /// hashing the key, and a lock.
  public func record(_ key: CacheKey, at now: Timestamp) {
    record(digest: AccessRecord.digest(of: key), at: now)
  }

  /// Records a use in the same way, by the digest of the key. Cost: a lock.
  func record(digest: UInt64, at now: Timestamp) {
    add(CollectionOfOne(AccessRecord(digest: digest, history: AccessHistory(lastUsedAt: now, count: 1))))
  }

  /// The uses of the entries under `keys`, in that order; a use with count zero if nothing is known.
  ///
  /// Cost: a few look-ups for each key, however many uses are known.
  ///
  /// - Throws: `CacheError`: the log failed.
  public func histories(of keys: [CacheKey]) throws(CacheError) -> [AccessHistory] {
    let digests = keys.map { AccessRecord.digest(of: $0) }
    // What is on its way to the log may be counted twice, but not missed.
    let waiting = state.withLock { state in
      state.gather()
      return digests.map { digest in
        (state.leaving.history(of: digest) ?? AccessHistory()) + (state.pending.history(of: digest) ?? AccessHistory())
      }
    }
    return zip(try log.histories(of: digests), waiting).map { $0 + $1 }
  }

  /// Raises the recorded uses to at least those given, after entries were moved here from another store. Repeating it
  /// changes nothing.
  ///
  /// - Throws: `CacheError`: the log failed.
  public func restore(_ histories: [CacheKey: AccessHistory]) throws(CacheError) {
    let keys = Array(histories.keys)
    add(
      zip(keys, try self.histories(of: keys)).compactMap { key, known in
        guard let history = histories[key], history.count > known.count || history.lastUsedAt > known.lastUsedAt else {
          return nil
        }
        let missing = AccessHistory(
          lastUsedAt: max(history.lastUsedAt, known.lastUsedAt), count: max(0, history.count - known.count))
        return AccessRecord(digest: AccessRecord.digest(of: key), history: missing)
      })
  }

  /// Adds the collected uses to the log. If that fails, it keeps them for the next call.
  ///
  /// - Throws: `CacheError`: the log failed, now or earlier in the background.
  public func flush() async throws(CacheError) {
    await state.withLock { $0.flush }?.value
    let (records, failure) = state.withLock { state in
      defer { (state.recent, state.pending, state.failure) = ([], AccessTable(), nil) }
      // The table of a command-line tool is not even made.
      if state.pending.histories.isEmpty { return (state.recent, state.failure) }
      state.gather()
      return (state.pending.records, state.failure)
    }
    do throws(CacheError) {
      if !records.isEmpty { try log.add(records) }
    } catch {
      // The log may have added some of them. Counting a use twice is better than losing it.
      state.withLock { state in for record in records { state.add(record) } }
      throw error
    }
    if let failure { throw failure }
  }

  private func add(_ records: some Sequence<AccessRecord>) {
    state.withLock { state in
      for record in records { state.add(record) }
      guard state.pending.histories.count >= Self.maximumPending, state.leaving.histories.isEmpty else { return }
      (state.pending, state.leaving) = (AccessTable(), state.pending)
      state.flush = Task { [state = state.leaving] in await leave(state) }
    }
  }

  /// Adds `table` to the log, on a thread that may block. If the log refuses the table, its uses are lost: keeping
  /// them would let memory grow without limit.
  private func leave(_ table: AccessTable) async {
    let failure = try? await executor.run { [log] () throws(CacheError) -> CacheError? in
      do throws(CacheError) { try log.add(table.records) } catch { return error }
      return nil
    }
    state.withLock { state in
      state.leaving = AccessTable()
      state.failure = state.failure ?? failure.flatMap(\.self)
    }
  }
}
