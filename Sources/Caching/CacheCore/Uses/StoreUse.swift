public import EngineAPI
internal import Synchronization

/// The usage of a store: when and how often each entry was used, the numbers of hits, misses and evictions, and the
/// position of the next eviction. It gathers this in memory, because reading never writes, and adds it to a `UseTable`:
/// every ten seconds while the store is used, after uses of 65,536 entries, and before the store is closed.
///
/// The uses of an entry outlive it, so that an entry that comes back is known.
public final class StoreUse: Sendable {
  /// How long to gather uses before they are written.
  static let interval = Duration.seconds(10)
  /// How many entries to gather before they are written in any case.
  static let maximumPending = 1 << 16
  /// How many uses to collect in a list before they go into a table. A command-line tool ends after one or two, and the
  /// first table costs a process more than all its hits.
  static let maximumRecent = 64

  private struct State {
    var counts = OperationCounts()
    /// The counts that are not in the file yet.
    var newCounts = OperationCounts()
    var recent: [AccessRecord] = []
    var pending: [UInt64: AccessHistory] = [:]
    /// The uses on their way to the file. Without one: those before `pending`.
    var leaving: [UInt64: AccessHistory] = [:]
    /// When uses were written last, or the first ones gathered; `nil` before that.
    var writtenAt: Timestamp?
    var writing: Task<Void, Never>?
    /// Why the file refused uses in the background.
    var failure: CacheError?
    var sweep: EvictionSweep?
    var sweepHasMoved = false

    func history(of digest: UInt64, isSum: Bool) -> AccessHistory {
      if isSum { return (leaving[digest] ?? AccessHistory()) + (pending[digest] ?? AccessHistory()) }
      return pending[digest] ?? leaving[digest] ?? AccessHistory()
    }
  }

  private let table: UseTable?
  /// Whether uses go to the file; otherwise they stay in memory.
  private let writes: Bool
  private let capacity: Int
  private let recordsUses: Bool
  private let executor = BlockingExecutor()
  private let state = Mutex(State())

  /// Uses that are kept in memory, those of the last `capacity` (1 or more) entries that were used and of up to as many
  /// before them: for a store that lives no longer than the process, or could not be opened.
  public convenience init(capacity: Int = 1 << 17) { self.init(nil, capacity: capacity) }

  /// Uses that are kept in `table`, or only read from there.
  ///
  /// - Parameter recordsUses: whether the uses of entries are recorded, by which evictions choose, or only the counts are.
  package init(
    _ table: UseTable?, isReadOnly: Bool = false, recordsUses: Bool = true, capacity: Int = 1 << 17
  ) {
    self.table = table
    self.capacity = capacity
    self.recordsUses = recordsUses
    writes = table != nil && !isReadOnly
  }

  /// Records a use of the entry under `key` at `now`, without counting a hit. Cost: hashing the key, and a lock.
  public func record(_ key: CacheKey, at now: Timestamp) { record(digest: AccessRecord.digest(of: key), at: now) }

  /// Records a use in the same way, by the digest of the key.
  func record(digest: UInt64, at now: Timestamp) {
    state.withLock { state in add(digest, at: now, to: &state) }
  }

  /// Counts a lookup: a hit, and a use of the entry whose key has this digest; with `nil`, a miss. Cost: a lock.
  func countLookUp(_ digest: UInt64?, at now: Timestamp) {
    state.withLock { state in
      guard let digest else {
        state.counts.misses += 1
        state.newCounts.misses += 1
        return
      }
      state.counts.hits += 1
      state.newCounts.hits += 1
      add(digest, at: now, to: &state)
    }
  }

  /// Counts unexpired entries that were evicted to keep the store within its limits.
  func count(evictions: Int) {
    state.withLock { state in
      state.counts.evictions += evictions
      state.newCounts.evictions += evictions
    }
  }

  /// The counts since the store was opened.
  public var counts: OperationCounts { state.withLock(\.counts) }

  /// The counts of all processes that use the store; without a file, since it was opened.
  ///
  /// - Throws: `CacheError`: the file cannot be read.
  public func totals() throws(CacheError) -> OperationCounts {
    try (table?.counts() ?? OperationCounts()) + state.withLock(\.newCounts)
  }

  /// The uses of the entries under `keys`, in that order; a use with count zero if nothing is known.
  ///
  /// Cost: a few lookups for each key, however many uses are known.
  ///
  /// - Throws: `CacheError`: the file cannot be read.
  public func histories(of keys: [CacheKey]) throws(CacheError) -> [AccessHistory] {
    guard recordsUses else { return keys.map { _ in AccessHistory() } }
    let digests = keys.map { AccessRecord.digest(of: $0) }
    // Uses on their way to the file can be counted twice, but not missed.
    let waiting = state.withLock { state in
      gather(&state)
      return digests.map { state.history(of: $0, isSum: writes) }
    }
    guard let table else { return waiting }
    return zip(try table.histories(of: digests), waiting).map { $0 + $1 }
  }

  /// Raises the recorded uses to at least those given, after entries were moved here from another store. Repeating it
  /// changes nothing.
  ///
  /// - Throws: `CacheError`: the file cannot be read.
  public func restore(_ histories: [CacheKey: AccessHistory]) throws(CacheError) {
    guard recordsUses else { return }
    let keys = Array(histories.keys)
    let known = try self.histories(of: keys)
    state.withLock { state in
      for (key, known) in zip(keys, known) {
        guard let history = histories[key], history.count > known.count || history.lastUsedAt > known.lastUsedAt else {
          continue
        }
        let missing = AccessHistory(
          lastUsedAt: max(history.lastUsedAt, known.lastUsedAt), count: max(0, history.count - known.count))
        add(AccessRecord(digest: AccessRecord.digest(of: key), history: missing), to: &state)
      }
      if state.pending.count >= Self.maximumPending { startWriting(&state, at: state.writtenAt) }
    }
  }

  private func add(_ digest: UInt64, at now: Timestamp, to state: inout State) {
    guard recordsUses else { return }
    state.recent.append(AccessRecord(digest: digest, history: AccessHistory(lastUsedAt: now, count: 1)))
    guard state.recent.count >= Self.maximumRecent else { return }
    gather(&state)
    let start = state.writtenAt ?? now
    state.writtenAt = start
    // Not if the clock was set back.
    let isDue = now < start || now >= start.advanced(by: Self.interval)
    if isDue || state.pending.count >= Self.maximumPending { startWriting(&state, at: now) }
  }

  private func gather(_ state: inout State) {
    for record in state.recent { add(record, to: &state) }
    state.recent.removeAll(keepingCapacity: true)
  }

  /// Memory holds two tables. When the first is full it becomes the second, and the records that were only in the
  /// second are dropped: those of the entries unused for longest, at no cost.
  private func add(_ record: AccessRecord, to state: inout State) {
    if !writes, state.pending[record.digest] == nil {
      if state.pending.count >= capacity {
        state.leaving = state.pending
        state.pending = [:]
      }
      state.pending[record.digest] = state.leaving[record.digest]
    }
    state.pending[record.digest] = (state.pending[record.digest] ?? AccessHistory()) + record.history
  }
}

/// Where evictions look.
extension StoreUse {
  /// The sweep of a large store, which starts at `key` if none is known.
  func sweep(near key: CacheKey, isOrdered: Bool) -> EvictionSweep {
    if let sweep = state.withLock(\.sweep) { return sweep }
    return (isOrdered ? table?.sweep() : nil) ?? EvictionSweep(at: key, isOrdered: isOrdered)
  }

  /// Keeps the sweep after an eviction.
  func keep(_ sweep: EvictionSweep) {
    state.withLock { state in
      state.sweep = sweep
      state.sweepHasMoved = true
    }
  }
}

/// Writing the file.
extension StoreUse {
  /// The uses to add to the file.
  private struct News {
    let recent: [AccessRecord]
    let uses: [UInt64: AccessHistory]
    let counts: OperationCounts
    let sweep: EvictionSweep?
  }

  private func takeNews(_ state: inout State) -> News {
    defer {
      state.recent = []
      state.pending = [:]
      state.newCounts = OperationCounts()
      state.sweepHasMoved = false
    }
    return News(
      recent: state.recent, uses: state.pending, counts: state.newCounts,
      sweep: state.sweepHasMoved ? state.sweep : nil)
  }

  /// Adds `news` to the file. If the file refuses the uses, they are lost: keeping them would let memory grow without
  /// limit.
  private func add(_ news: News) throws(CacheError) {
    let records = news.recent + news.uses.map { AccessRecord(digest: $0.key, history: $0.value) }
    guard let table, !records.isEmpty || news.counts != OperationCounts() || news.sweep != nil else { return }
    do throws(CacheError) {
      try table.add(records, news.counts, sweep: news.sweep)
    } catch {
      state.withLock { state in
        state.newCounts = state.newCounts + news.counts
        if news.sweep != nil { state.sweepHasMoved = true }
      }
      throw error
    }
  }

  /// Adds the gathered uses to the file.
  ///
  /// - Throws: `CacheError`: the file could not be written, now or earlier in the background.
  func write() async throws(CacheError) {
    guard writes else { return }
    await finishWriting()
    let (news, failure) = state.withLock { state in
      // The list has the later uses. A command-line tool has only a list, for which no table is made.
      if !state.pending.isEmpty { gather(&state) }
      defer { state.failure = nil }
      return (takeNews(&state), state.failure)
    }
    try add(news)
    if let failure { throw failure }
  }

  /// Waits for writes in the background.
  func finishWriting() async { await state.withLock(\.writing)?.value }

  /// Adds the gathered uses to the file, on a thread that can block.
  private func startWriting(_ state: inout State, at now: Timestamp?) {
    guard writes, state.leaving.isEmpty else { return }
    gather(&state)
    let news = takeNews(&state)
    state.leaving = news.uses
    state.writtenAt = now
    state.writing = Task { await addInBackground(news) }
  }

  private func addInBackground(_ news: News) async {
    var failure: CacheError?
    do throws(CacheError) {
      try await executor.run { () throws(CacheError) in try self.add(news) }
    } catch {
      failure = error
    }
    state.withLock { [failure] state in
      state.leaving = [:]
      state.writing = nil
      state.failure = state.failure ?? failure
    }
  }
}

/// How an entry was used.
public struct AccessHistory: Sendable, Hashable {
  /// The time of the last use; 1970-01-01T00:00:00Z if there was none.
  public var lastUsedAt = Timestamp(milliseconds: 0)
  /// The number of uses, not negative.
  public var count: Int64 = 0

  /// Adds later uses to known ones: the later time, and the sum of the counts, limited to the largest number.
  ///
  /// A time that is more than a day ahead of that of later uses was recorded before the clock was set back, and gives way
  /// to it. By less than that processes differ that keep their uses in memory for a while.
  public static func + (known: AccessHistory, later: AccessHistory) -> AccessHistory {
    let isAhead = known.lastUsedAt > later.lastUsedAt.advanced(by: .seconds(86_400))
    return AccessHistory(
      lastUsedAt: later.count > 0 && isAhead ? later.lastUsedAt : max(known.lastUsedAt, later.lastUsedAt),
      count: known.count.saturatingSum(later.count))
  }
}

/// How many lookups hit or missed, and how many entries were evicted.
public struct OperationCounts: Sendable, Hashable {
  /// Look-ups that found an entry, fresh or stale.
  public var hits = 0
  /// Look-ups that found no entry.
  public var misses = 0
  /// Unexpired entries that were evicted to keep the cache within its limits.
  public var evictions = 0

  /// Creates counts, none of them negative.
  public init(hits: Int = 0, misses: Int = 0, evictions: Int = 0) {
    self.hits = hits
    self.misses = misses
    self.evictions = evictions
  }

  /// The sum of two counts, limited to the largest number.
  public static func + (left: OperationCounts, right: OperationCounts) -> OperationCounts {
    OperationCounts(
      hits: left.hits.saturatingSum(right.hits), misses: left.misses.saturatingSum(right.misses),
      evictions: left.evictions.saturatingSum(right.evictions))
  }
}

extension FixedWidthInteger {
  /// The sum with a number that is not negative, limited to the largest number.
  func saturatingSum(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
