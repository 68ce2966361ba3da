internal import FetchVocabulary
internal import EngineAPI

/// Makes room for one batch, and writes it.
struct EvictionPass: Sendable {
  /// A store of at most this many entries is looked at whole.
  static let wholeLook = 1_000
  /// How many entries go at once from a large store, so that not every write has to choose.
  static let victimsAtOnce = 32

  /// What a pass has done.
  enum Outcome {
    /// The batch is written.
    case written
    /// As many entries as one pass evicts are gone, and more have to go.
    case evicted
    /// Nothing has changed: another writer has changed the store meanwhile.
    case outrun
  }

  let writer: BoundedWriter
  let limits: StoreLimits
  let key: CacheKey
  /// The batch to write. The entries that it changes are never evicted.
  let batch: WriteBatch

  /// Counts what has to go, chooses up to 1,000 victims, and removes them. If that is enough, the same batch writes.
  ///
  /// Cost: a look at all entries of a small store; otherwise at some for each that goes, in bounded memory. Up to a
  /// sixty-fourth of the entries may be evicted beyond the need, and fewer than `victimsAtOnce`.
  ///
  /// - Throws: `CacheError`: what the engine throws; `overBounds` if no entry may be evicted.
  func run() async throws(CacheError) -> Outcome {
    let (count, needed) = try await excess()
    guard needed.entries > 0 || needed.payloadBytes > 0 else { return .outrun }
    let held = count.total()
    let looksAtAll = limits.eviction == .none || held.entries <= writer.wholeLook
    if limits.eviction == .none {
      let mayFindExpired =
        held.entries <= writer.wholeLook
        ? held.earliestExpiry <= writer.clock.now : writer.expiry.mayFindExpired(in: count, at: writer.clock.now)
      guard mayFindExpired else { throw limits.noRoom(for: key) }
    }
    // None beyond the need if few are to stay of many, such as after an import.
    let spare = min(min(held.entries, limits.maxEntries) / 64, Self.victimsAtOnce - 1)
    var search = VictimSearch(
      limits.eviction, needed: needed, spareCount: spare, now: writer.clock.now, excluding: Array(batch.keys))
    if looksAtAll { try await lookAtAll(&search) } else { try await sweep(&search) }
    let choice = search.choose()
    guard choice.isEnough || choice.isBeginning else {
      if search.hasKept || limits.eviction == .none { throw limits.noRoom(for: key) }
      return .outrun
    }
    var removal = choice.isEnough ? batch : WriteBatch()
    // An engine that is not ordered may list an entry twice.
    var seen: Set<CacheKey> = []
    for victim in choice.victims where seen.insert(victim.key).inserted {
      removal.remove(victim.key, ifStill: victim.checksum)
    }
    guard try await writer.tryToApply(removal) else { return .outrun }
    writer.uses.count(evictions: choice.victims.count { !$0.isExpired })
    return choice.isEnough ? .written : .evicted
  }

  /// How much the store holds without leases, and how much of that must go to make the batch fit.
  private func excess() async throws(CacheError) -> (count: StoreCount, needed: EntryCount) {
    let count = try await writer.engine.count().withoutLeases
    var (after, own) = (count.total(), EntryCount())
    for (key, newSize) in batch.finalSizes where !key.text.hasPrefix(Lease.keyPrefix) {
      if let oldSize = try await size(of: key) { after.remove(payloadBytes: oldSize) }
      if let newSize { own += EntryCount(entries: 1, payloadBytes: newSize) }
    }
    after += own
    // A batch may store several entries, which may not fit even into an empty store.
    guard own.entries <= limits.maxEntries, own.payloadBytes <= limits.maxBytes else { throw limits.noRoom(for: key) }
    let needed = EntryCount(
      entries: max(0, after.entries - limits.maxEntries), payloadBytes: max(0, after.payloadBytes - limits.maxBytes))
    return (count, needed)
  }

  /// The size of the payload under `key`; `nil` if there is none, or it cannot be read.
  private func size(of key: CacheKey) async throws(CacheError) -> Int? {
    do throws(CacheError) {
      return try await writer.engine.read(key) { bytes, _ in bytes.count }
    } catch {
      guard error.isUnreadableEntry else { throw error }
      return nil
    }
  }
}

/// Where the victims are looked for.
extension EvictionPass {
  /// Offers `search` all entries, or as many as are enough if only expired ones may go.
  private func lookAtAll(_ search: inout VictimSearch) async throws(CacheError) {
    var walk = StoreWalk(writer.engine, isOrdered: writer.isOrdered)
    guard limits.eviction == .none else {
      while let page = try await walk.next() { search.offer(page, histories) }
      return
    }
    var earliest = Timestamp.distantFuture
    writer.expiry.beginPass()
    while !search.choose().isEnough {
      guard let page = try await walk.next() else {
        return writer.expiry.endPass(earliestExpiry: earliest, at: writer.clock.now)
      }
      search.offer(page, histories)
      // Also of what has expired: it stays, and may be enough for a smaller entry.
      for entry in page where entry.key.namespace != Lease.namespace {
        earliest = min(earliest, entry.metadata.retainUntil)
      }
    }
  }

  /// Offers `search` the next entries of the sweep, until it has chosen enough among enough of them, or has seen all.
  private func sweep(_ search: inout VictimSearch) async throws(CacheError) {
    var sweep = writer.uses.sweep(near: key, isOrdered: writer.isOrdered)
    defer { writer.uses.keep(sweep) }
    let empty = search
    let firstRound = sweep.rounds
    var round = firstRound
    var choice = search.choose()
    repeat {
      let goal = max(1, search.goal(atLeast: Self.victimsAtOnce) - search.seen)
      var entries: [ScannedEntry] = []
      while entries.count < min(goal, VictimSelection.maximumCount) {
        let stretch = sweep.nextStretch()
        if sweep.rounds != round {
          // The next round comes to the same entries again: look at those of one round alone.
          guard round == firstRound else { return search.offer(entries, histories) }
          search = empty
          entries = []
          round = sweep.rounds
        }
        let page = try await writer.engine.scan(sweep.request(for: stretch))
        entries += page.entries.prefix(sweep.note(page, in: stretch))
      }
      search.offer(entries, histories)
      choice = search.choose()
      // If more have to go than one pass evicts, these are the best of as many entries as that takes.
    } while !choice.isEnough && !choice.isBeginning || search.seen < search.goal(atLeast: 0)
  }

  /// How entries were used. That only decides the order: if it cannot be read, the write must not fail.
  private func histories(of keys: [CacheKey]) -> [AccessHistory] {
    (try? writer.uses.histories(of: keys)) ?? keys.map { _ in AccessHistory() }
  }
}
