public import EngineAPI
internal import FetchVocabulary
internal import Synchronization

/// How a store is used: when and how often each entry was, the numbers of hits, misses and evictions, and where the next
/// eviction looks. It gathers this in memory, because reading never writes, and adds it to a `UseTable`: after 4,096 uses if
/// a second has passed since it last did, after uses of 65,536 entries, and before the store is closed.
///
/// The uses of an entry outlive it, so that an entry that comes back is known.
public final class StoreUse: Sendable {
  /// How many uses to gather before some are written.
  static let usesToWrite = 4_096
  /// How long to gather them at least.
  static let interval = Duration.seconds(1)
  /// How many entries to gather before they are written in any case.
  static let maximumPending = 1 << 16
  /// How many uses to collect in a list before they go into a table. A command-line tool ends after one or two, and the
  /// first table costs a process more than all its hits.
  private static let maximumRecent = 64

  private struct State {
    var counts = OperationCounts()
    /// The counts that are not in the file yet.
    var newCounts = OperationCounts()
    var recent: [AccessRecord] = []
    var pending: [UInt64: AccessHistory] = [:]
    /// The uses on their way to the file. Without one: those before `pending`.
    var leaving: [UInt64: AccessHistory] = [:]
    /// The uses in `pending`, and when to look next whether to write them.
    var uses = 0
    var usesToLook = StoreUse.usesToWrite
    /// When uses were written last, or the first use; `nil` before that.
    var writtenAt: Timestamp?
    var writing: Task<Void, Never>?
    var failure: CacheError?
    var sweep: EvictionSweep?
    var sweepHasMoved = false

    func history(of digest: UInt64, isSum: Bool) -> AccessHistory {
      let (left, waiting) = (leaving[digest], pending[digest])
      if isSum { return (left ?? AccessHistory()) + (waiting ?? AccessHistory()) }
      return waiting ?? left ?? AccessHistory()
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

  /// Counts a look-up: a hit, and a use of the entry whose key has this digest; with `nil`, a miss. Cost: a lock.
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
  /// Cost: a few look-ups for each key, however many uses are known.
  ///
  /// - Throws: `CacheError`: the file cannot be read.
  public func histories(of keys: [CacheKey]) throws(CacheError) -> [AccessHistory] {
    guard recordsUses else { return keys.map { _ in AccessHistory() } }
    let digests = keys.map { AccessRecord.digest(of: $0) }
    // What is on its way to the file may be counted twice, but not missed.
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
      writeIfMany(&state)
    }
  }

  private func add(_ digest: UInt64, at now: Timestamp, to state: inout State) {
    guard recordsUses else { return }
    state.recent.append(AccessRecord(digest: digest, history: AccessHistory(lastUsedAt: now, count: 1)))
    guard state.recent.count >= Self.maximumRecent else { return }
    state.uses += state.recent.count
    gather(&state)
    let start = state.writtenAt ?? now
    state.writtenAt = start
    if state.uses >= state.usesToLook {
      // Not if the clock was set back.
      if now < start || now >= start.advanced(by: Self.interval) { return startWriting(&state, at: now) }
      state.usesToLook += Self.usesToWrite
    }
    writeIfMany(&state)
  }

  private func writeIfMany(_ state: inout State) {
    if state.pending.count >= Self.maximumPending { startWriting(&state, at: state.writtenAt) }
  }

  private func gather(_ state: inout State) {
    for record in state.recent { add(record, to: &state) }
    state.recent.removeAll(keepingCapacity: true)
  }

  /// What stays in memory is in two tables. When the first is full it becomes the second, and what was only in the second is
  /// forgotten: the entries unused for longest, at no cost.
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
  /// What is to be added to the file.
  private struct News {
    let recent: [AccessRecord]
    let uses: [UInt64: AccessHistory]
    let counts: OperationCounts
    let sweep: EvictionSweep?

    var records: [AccessRecord] { recent + uses.map { AccessRecord(digest: $0.key, history: $0.value) } }
  }

  private func takeNews(_ state: inout State) -> News {
    let news = News(
      recent: state.recent, uses: state.pending, counts: state.newCounts,
      sweep: state.sweepHasMoved ? state.sweep : nil)
    state.recent = []
    state.pending = [:]
    state.newCounts = OperationCounts()
    state.sweepHasMoved = false
    return news
  }

  private func giveBack(_ news: News, to state: inout State) {
    state.newCounts = state.newCounts + news.counts
    if news.sweep != nil { state.sweepHasMoved = true }
  }

  private func add(_ news: News) throws(CacheError) {
    let records = news.records
    guard let table, !records.isEmpty || news.counts != OperationCounts() || news.sweep != nil else { return }
    try table.add(records, news.counts, sweep: news.sweep)
  }

  /// Adds what was gathered to the file. If that fails, it keeps it for the next call.
  ///
  /// - Throws: `CacheError`: the file could not be written, now or earlier in the background.
  func write() async throws(CacheError) {
    guard writes else { return }
    await finishWriting()
    let (news, failure) = state.withLock { state in
      // The table of a command-line tool is not even made.
      if !state.pending.isEmpty { gather(&state) }
      defer { state.failure = nil }
      return (takeNews(&state), state.failure)
    }
    do throws(CacheError) { try add(news) } catch {
      // The file may have some of them. Counting a use twice is better than losing it.
      state.withLock { state in
        for record in news.records { add(record, to: &state) }
        giveBack(news, to: &state)
      }
      throw error
    }
    if let failure { throw failure }
  }

  /// Waits for what is being written in the background.
  func finishWriting() async { await state.withLock(\.writing)?.value }

  /// Adds what was gathered to the file, on a thread that may block.
  private func startWriting(_ state: inout State, at now: Timestamp?) {
    guard writes, state.leaving.isEmpty else { return }
    state.leaving = state.pending
    state.uses = 0
    state.usesToLook = Self.usesToWrite
    state.writtenAt = now
    let news = takeNews(&state)
    state.writing = Task { await write(news) }
  }

  /// If the file refuses the uses, they are lost: keeping them would let memory grow without limit.
  private func write(_ news: News) async {
    let failure = try? await executor.run { () throws(CacheError) -> CacheError? in
      do throws(CacheError) { try self.add(news) } catch { return error }
      return nil
    }
    state.withLock { state in
      state.leaving = [:]
      state.writing = nil
      guard let failure = failure.flatMap(\.self) else { return }
      giveBack(news, to: &state)
      state.failure = state.failure ?? failure
    }
  }
}
