internal import EngineAPI
internal import Synchronization

/// Writes to a store that must not exceed its limits.
///
/// The engine checks the limits under its own lock, so they hold at every instant, whatever other processes write. If
/// there is room, that is all. If not, the batch also removes the victims, each on condition that it has not changed.
/// If one of them has changed, new victims are chosen.
struct BoundedWriter: Sendable {
  /// How many failed attempts to make room end a write.
  static let maximumAttempts = 100
  /// A store of at most this many entries is looked at whole to choose victims.
  static let wholeLook = 1_000
  /// The number of entries that a large store evicts at once, so that not every write must choose.
  static let victimsAtOnce = 32
  /// The number of writes from a look that found an expired entry to the next look.
  static let shortestInterval = 8
  /// The largest number of writes between two looks.
  static let longestInterval = 1_024

  /// The result of an attempt to make room.
  private enum Outcome {
    /// The batch is written.
    case written
    /// As many entries as one choice evicts are gone, and more must be evicted.
    case evicted
    /// Nothing has changed: another writer has changed the store meanwhile.
    case outrun
  }

  let engine: any StorageEngine
  let clock: any WallClock
  let limits: StoreLimits?
  let uses: StoreUse
  /// Whether the engine lists keys in order.
  let isOrdered: Bool
  /// Whether writes also remove expired entries.
  let removesExpired: Bool
  var wholeLook = BoundedWriter.wholeLook
  private let turns = TurnQueue(1)
  private let looks = Looks()

  /// Makes all the changes of `batch`, or none. The batch stores the entry under `key`, which has `bytes` bytes.
  ///
  /// - Throws: `CacheError`: what the engine throws; `tooLarge` if the entry alone exceeds the limits, `overBounds`
  ///   if no entry can be evicted, `busy` if other writers keep filling the store, `cancelled`.
  func apply(
    _ batch: WriteBatch, storing key: CacheKey, bytes: Int
  ) async throws(CacheError) {
    if let limits, bytes > limits.maxBytes { throw limits.tooLarge(key, bytes: bytes) }
    var batch = batch
    batch.bounds = limits?.bounds
    let expired = await expired(near: key)
    let removesOthers = !expired.isEmpty
    // Anything but a lack of room is the caller's own failure, above all a conflict. The other entries might have
    // changed, or be next to damage.
    let passed: [CacheError.Code] = removesOthers ? [.overBounds, .conflict, .damaged] : [.overBounds]
    if try await engine.apply(batch.removing(expired), unless: passed) { return }
    guard let limits else { return try await engine.apply(batch) }
    var isStale = try await turns.take() || removesOthers
    defer { turns.giveBack() }
    var attempts = 0
    while attempts < Self.maximumAttempts {
      if isStale, try await engine.apply(batch, unless: [.overBounds]) { return }
      switch try await evict(for: batch, storing: key, limits) {
      case .written: return
      case .evicted:
        // Many more evictions than one choice makes can be necessary, as after an import.
        if Task.isCancelled { throw .cancelled }
        isStale = false
      case .outrun:
        isStale = true
        attempts += 1
      }
    }
    throw limits.neverRoom(for: key)
  }

  // MARK: Expired entries

  /// The expired entries that a write of `key` should also remove; usually none.
  ///
  /// Now and then a write looks at the next page of the sweep. The first one looks. As long as looks find something, every
  /// eighth write looks: two entries for each one written, so the store is looked at faster than it can grow. If a look
  /// finds nothing, the number of writes until the next one doubles, up to 1,024. If the engine knows that nothing can have
  /// expired, a look scans nothing.
  ///
  /// Cost: a count and perhaps a scan of sixteen entries in the calls that look, otherwise nothing.
  private func expired(near key: CacheKey) async -> [ScannedEntry] {
    guard removesExpired, looks.isDue() else { return [] }
    // The write must not fail for this. If the store cannot be read, the next read reports it.
    let now = clock.now
    guard let count = try? await engine.count(), count.withoutLeases.total().earliestExpiry <= now else { return [] }
    var sweep = uses.sweep(near: key, isOrdered: isOrdered)
    guard let page = try? await sweep.next(in: engine) else { return [] }
    uses.keep(sweep)
    let expired = page.filter { $0.metadata.state(at: now) == .expired && !$0.key.isLease }
    if !expired.isEmpty { looks.findMore() }
    return expired
  }

  // MARK: Making room

  /// How many entries to evict in one batch if many thousands must be evicted: an engine that writes whole files wants large
  /// batches.
  private static let victimsOfMany = 16_384

  /// Evicts entries until the store is within its limits, as it is not after an import or if the limits were lowered.
  ///
  /// - Parameter progress: called after each batch, with how many entries must still be evicted.
  /// - Throws: `CacheError`: what the engine throws; `overBounds` if no entry may be evicted, `busy` if other writers keep
  ///   changing the store, `cancelled`.
  func makeRoom(progress: (Int) -> Void) async throws(CacheError) {
    guard let limits else { return }
    let key = try CacheKey(Lease.keyPrefix + "room")
    _ = try await turns.take()
    defer { turns.giveBack() }
    var attempts = 0
    while attempts < Self.maximumAttempts {
      let held = try await engine.count()
      progress(max(0, held.withoutLeases.entries - limits.maxEntries))
      if limits.bounds.contain(held) { return }
      if Task.isCancelled { throw .cancelled }
      let outcome = try await evict(for: WriteBatch(), storing: key, limits, atOnce: Self.victimsOfMany)
      attempts = outcome == .outrun ? attempts + 1 : 0
    }
    throw limits.neverRoom(for: key)
  }

  /// Counts the evictions that make room for `batch`, chooses up to `count` victims, and removes them. If that is enough,
  /// the same batch writes. The entries that `batch` changes are never evicted.
  ///
  /// Cost: a look at all entries of a small store; otherwise at several for each eviction, in bounded memory. It can
  /// evict up to a sixty-fourth of the entries beyond the need, and fewer than `victimsAtOnce`.
  ///
  /// - Throws: `CacheError`: what the engine throws; `overBounds` if no entry can be evicted.
  private func evict(
    for batch: WriteBatch, storing key: CacheKey, _ limits: StoreLimits, atOnce count: Int = VictimSearch.maximumVictims
  ) async throws(CacheError) -> Outcome {
    let held = try await engine.count().withoutLeases.total()
    let needed = try await excess(over: limits, held, with: batch, storing: key)
    guard needed.entries > 0 || needed.payloadBytes > 0 else { return .outrun }
    if limits.eviction == .none, held.earliestExpiry > clock.now { throw limits.noRoom(for: key) }
    // None beyond the need if few are to stay of many, such as after an import.
    let spare = min(min(held.entries, limits.maxEntries) / 64, Self.victimsAtOnce - 1)
    var search = VictimSearch(
      limits.eviction, needed: needed, spareCount: spare, now: clock.now, excluding: Array(batch.keys),
      maximum: count)
    if held.entries <= wholeLook {
      var walk = StoreWalk(engine, isOrdered: isOrdered)
      while let page = try await walk.next() { search.offer(page, histories) }
    } else {
      try await sweep(near: key, &search)
    }
    let choice = search.choose()
    guard choice.isEnough || choice.isBeginning else {
      if search.hasKept { throw limits.noRoom(for: key) }
      return .outrun
    }
    var removal = choice.isEnough ? batch : WriteBatch()
    // An engine that is not ordered can list an entry twice.
    var seen: Set<CacheKey> = []
    for victim in choice.victims where seen.insert(victim.key).inserted {
      removal.remove(victim.key, ifStill: victim.checksum)
    }
    guard try await engine.apply(removal, unless: [.overBounds, .conflict]) else { return .outrun }
    uses.count(evictions: choice.victims.count { !$0.isExpired })
    return choice.isEnough ? .written : .evicted
  }

  /// How much of a store that holds `held` must go to make `batch` fit.
  private func excess(
    over limits: StoreLimits, _ held: EntryCount, with batch: WriteBatch, storing key: CacheKey
  ) async throws(CacheError) -> EntryCount {
    var after = held
    var own = EntryCount()
    for (key, newSize) in batch.finalSizes where !key.isLease {
      if let oldSize = try await size(of: key) { after.remove(payloadBytes: oldSize) }
      if let newSize { own += EntryCount(entries: 1, payloadBytes: newSize) }
    }
    after += own
    // A batch can store several entries, which might not fit even into an empty store.
    guard own.entries <= limits.maxEntries, own.payloadBytes <= limits.maxBytes else { throw limits.noRoom(for: key) }
    return EntryCount(
      entries: max(0, after.entries - limits.maxEntries), payloadBytes: max(0, after.payloadBytes - limits.maxBytes))
  }

  /// The size of the payload under `key`; `nil` if there is none, or it cannot be read.
  private func size(of key: CacheKey) async throws(CacheError) -> Int? {
    do throws(CacheError) {
      return try await engine.read(key) { bytes, _ in bytes.count }
    } catch {
      guard error.isUnreadableEntry else { throw error }
      return nil
    }
  }

  /// Offers `search` the next entries of the sweep, until it has chosen enough among enough of them, or has seen all, or
  /// three times as many as one choice holds: a policy can keep most of them.
  private func sweep(near key: CacheKey, _ search: inout VictimSearch) async throws(CacheError) {
    var sweep = uses.sweep(near: key, isOrdered: isOrdered)
    defer { uses.keep(sweep) }
    let empty = search
    let firstRound = sweep.rounds
    var round = firstRound
    var choice = search.choose()
    repeat {
      let goal = max(1, search.goal(atLeast: Self.victimsAtOnce) - search.seen)
      var entries: [ScannedEntry] = []
      while entries.count < min(goal, search.maximum) {
        let page = try await sweep.next(in: engine)
        if sweep.rounds != round {
          // The next round comes to the same entries again: look at those of one round alone.
          guard round == firstRound else { return search.offer(entries, histories) }
          search = empty
          entries = []
          round = sweep.rounds
        }
        entries += page
      }
      search.offer(entries, histories)
      choice = search.choose()
      // If more must be evicted than one choice evicts, these are the best of as many entries as that takes.
    } while search.seen < VictimSearch.entriesPerVictim * search.maximum
      && (!choice.isEnough && !choice.isBeginning || search.seen < search.goal(atLeast: 0))
  }

  /// How entries were used. That only decides the order: if it cannot be read, the write must not fail.
  private func histories(of keys: [CacheKey]) -> [AccessHistory] {
    (try? uses.histories(of: keys)) ?? keys.map { _ in AccessHistory() }
  }
}

/// When writes look for expired entries.
private final class Looks: Sendable {
  private struct State {
    var writesToNext = 0
    var interval = BoundedWriter.shortestInterval
  }

  private let state = Mutex(State())

  /// Counts a write, and returns whether it should look.
  func isDue() -> Bool {
    state.withLock { state in
      if state.writesToNext > 0 {
        state.writesToNext -= 1
        return false
      }
      state.interval = min(2 * state.interval, BoundedWriter.longestInterval)
      state.writesToNext = state.interval - 1
      return true
    }
  }

  /// Has the next look come soon: this one has found something.
  func findMore() { state.withLock { $0 = State(writesToNext: BoundedWriter.shortestInterval - 1) } }
}

extension StorageEngine {
  /// Makes the changes of `batch`; `false` if that fails with one of `codes`, such as `conflict` if another writer was faster.
  func apply(_ batch: WriteBatch, unless codes: [CacheError.Code]) async throws(CacheError) -> Bool {
    do throws(CacheError) { try await apply(batch) } catch {
      guard codes.contains(error.code) else { throw error }
      return false
    }
    return true
  }
}

extension WriteBatch {
  /// The keys that the batch changes.
  var keys: Set<CacheKey> {
    Set(operations.compactMap { operation in if case .require = operation { nil } else { operation.key } })
  }

  /// The payload sizes that the batch leaves under the keys whose payloads it changes; `nil` for a key that it removes.
  var finalSizes: [CacheKey: Int?] {
    var sizes: [CacheKey: Int?] = [:]
    for operation in operations {
      switch operation {
      case .put(let key, let payload, _): sizes[key] = .some(payload.count)
      case .remove(let key): sizes[key] = .some(nil)
      case .update, .require: continue
      }
    }
    return sizes
  }

  /// The same batch, which also removes those of `entries` that it does not change itself.
  func removing(_ entries: [ScannedEntry]) -> WriteBatch {
    guard !entries.isEmpty else { return self }
    let own = keys
    var batch = self
    for entry in entries where !own.contains(entry.key) {
      batch.remove(entry.key, ifStill: entry.metadata.checksum)
    }
    return batch
  }

  /// Adds the removal of an entry, on condition that it still has this checksum.
  mutating func remove(_ key: CacheKey, ifStill checksum: UInt64) {
    require(key, .checksum(checksum))
    remove(key)
  }
}
