internal import FetchVocabulary
internal import StorageSPI

/// Makes room for one batch, and writes it.
struct RoomMaker: Sendable {
  /// A store of at most this many entries is looked at whole.
  static let wholeLook = 1_000
  /// How many entries go at once from a large store, so that not every write has to choose.
  static let victimsAtOnce = 32

  let writer: BoundedWriter
  let limits: StoreLimits
  let key: CacheKey
  /// The batch to write. The entries that it changes are never evicted.
  let batch: WriteBatch

  /// Chooses victims for a large store without counting what it holds, removes them and writes the batch. Returns
  /// `false` if that did not make enough room, another writer has changed a victim, or the store may be small.
  ///
  /// Cost: a look at some hundred entries, whatever the size of the store.
  func tryToMakeAndFill() async throws(CacheError) -> Bool {
    guard limits.eviction != .none, let entries = writer.sweeps.estimatedEntries(), entries > writer.wholeLook else {
      return false
    }
    // Almost always enough; if not, the store is counted.
    var search = makeSearch(for: EntryTally.Count(entries: 1), spare: spare(of: entries))
    try await sweep(&search, isOneLook: true)
    // Fewer entries than expected: the store has shrunk since it was counted.
    guard search.seen >= search.goal(atLeast: Self.victimsAtOnce) else { return false }
    let choice = search.choose()
    return choice.isEnough ? try await remove(choice.victims[...], with: batch) : false
  }

  /// Counts what has to go, chooses victims, removes them and writes the batch. Returns `false` if another writer has
  /// changed the store meanwhile, or if this call made only some of the room.
  ///
  /// Cost: a look at all entries of a small store; otherwise at some for each that goes, in bounded memory. Up to a
  /// sixty-fourth of the entries may be evicted beyond the need, and no more than `victimsAtOnce`.
  ///
  /// - Throws: `CacheError`: what the engine throws; `overBounds` if no entry may be evicted.
  func makeAndFill() async throws(CacheError) -> Bool {
    let (tally, needed) = try await excess()
    guard needed != EntryTally.Count() else { return false }
    let held = tally.total(except: Lease.namespace)
    writer.sweeps.note(entries: held.entries)
    guard limits.eviction != .none || mayHoldExpired(tally) else { throw limits.noRoom(for: key) }
    var search = makeSearch(for: needed, spare: spare(of: held.entries))
    if !isLarge(held, for: needed) {
      try await lookAtAll(&search)
    } else {
      try await sweep(&search)
      let choice = search.choose()
      if !choice.isEnough, !choice.isBeginning {
        search = makeSearch(for: needed, spare: 0)
        try await lookAtAll(&search)
      }
    }
    return try await removeAndFill(search.choose(), hasKept: search.hasKept)
  }

  private func makeSearch(for needed: EntryTally.Count, spare: Int) -> VictimSearch {
    VictimSearch(
      limits.eviction, needed: needed, spareCount: spare, now: writer.clock.now, excluding: Array(batch.finalSizes.keys)
    )
  }

  /// How many of `entries` entries may go beyond the need.
  private func spare(of entries: Int) -> Int { min(entries / 64, Self.victimsAtOnce - 1) }

  /// Whether the store is so large that looking at all entries would cost much more than looking at some.
  private func isLarge(_ held: EntryTally.Count, for needed: EntryTally.Count) -> Bool {
    guard limits.eviction != .none, held.entries > writer.wholeLook else { return false }
    let averageBytes = max(1, held.payloadBytes / held.entries)
    let count = max(needed.entries, needed.payloadBytes / averageBytes) + spare(of: held.entries)
    return count < held.entries / VictimSearch.entriesPerVictim
  }

  /// Whether some entry may have expired, as far as the tally can say.
  private func mayHoldExpired(_ tally: EntryTally) -> Bool {
    let slot = writer.clock.now.milliseconds >> EntryTally.slotBits
    return tally.slots.keys.contains { $0.namespace != Lease.namespace && $0.retainSlot <= slot }
  }

  /// Removes what was found, and writes the batch.
  ///
  /// - Parameter hasKept: whether the policy kept an entry.
  private func removeAndFill(_ choice: VictimSelection.Choice, hasKept: Bool) async throws(CacheError) -> Bool {
    guard choice.isEnough else {
      if choice.isBeginning { _ = try await remove(choice.victims[...]) }
      if hasKept || limits.eviction == .none, !choice.isBeginning { throw limits.noRoom(for: key) }
      return false
    }
    let last = choice.victims.suffix(BoundedWriter.batchSize)
    guard try await remove(choice.victims.dropLast(last.count)) else { return false }
    return try await remove(last, with: batch)
  }

  /// How much the store holds, and how much of that must go to make the batch fit.
  private func excess() async throws(CacheError) -> (tally: EntryTally, needed: EntryTally.Count) {
    let tally = try await writer.engine.statistics().tally
    var after = tally.total(except: Lease.namespace)
    for (key, newSize) in batch.finalSizes where !key.text.hasPrefix(Lease.keyPrefix) {
      if let oldSize = try await size(of: key) { after = after + .init(entries: -1, payloadBytes: -oldSize) }
      if let newSize { after = after + .init(entries: 1, payloadBytes: newSize) }
    }
    let allowed = EntryTally.Count(entries: limits.maxEntries, payloadBytes: limits.maxBytes)
    return (tally, after.excess(over: allowed))
  }

  /// The size of the payload under `key`; `nil` if there is none.
  private func size(of key: CacheKey) async throws(CacheError) -> Int? {
    try await writer.engine.scan(KeyRange(prefix: key.text), limit: 1).first { $0.key == key }?.payloadBytes
  }

  /// Removes `victims` and makes the changes of `batch`, in batches of bounded size. Returns `false` if an entry has
  /// changed meanwhile, or there is still no room.
  private func remove(
    _ victims: ArraySlice<Victim>, with batch: WriteBatch = WriteBatch()
  ) async throws(CacheError) -> Bool {
    var rest = victims
    while !rest.isEmpty {
      let page = rest.prefix(BoundedWriter.batchSize)
      rest = rest.dropFirst(page.count)
      var batch = rest.isEmpty ? batch : WriteBatch()
      for victim in page { batch.remove(victim.key, ifStill: victim.checksum) }
      guard try await writer.tryToApply(batch) else { return false }
      writer.operations.record(evictions: page.count { !$0.isExpired })
    }
    return true
  }
}

/// Where the victims are looked for.
extension RoomMaker {
  /// Offers `search` all entries, or as many as are enough if only expired ones may go.
  private func lookAtAll(_ search: inout VictimSearch) async throws(CacheError) {
    var walk = StoreWalk(engine: writer.engine, pageSize: BoundedWriter.batchSize)
    while !(limits.eviction == .none && search.choose().isEnough), let page = try await walk.next() {
      search.offer(page, histories)
    }
  }

  /// Offers `search` the next entries of the sweep, until it has chosen enough among enough of them, or has seen all.
  ///
  /// - Parameter isOneLook: whether to stop after the first entries in any case.
  private func sweep(_ search: inout VictimSearch, isOneLook: Bool = false) async throws(CacheError) {
    var sweep = writer.sweeps.sweep(near: key)
    defer { writer.sweeps.keep(sweep) }
    let (empty, firstRound) = (search, sweep.rounds)
    var (round, choice) = (firstRound, search.choose())
    repeat {
      let goal = max(1, search.goal(atLeast: Self.victimsAtOnce) - search.seen)
      var entries: [EntrySummary] = []
      while entries.count < min(goal, BoundedWriter.batchSize) {
        let stretch = sweep.nextStretch()
        if sweep.rounds != round {
          // The next round comes to the same entries again: look at those of one round alone.
          guard round == firstRound else { return search.offer(entries, histories) }
          (search, entries, round) = (empty, [], sweep.rounds)
        }
        let page = try await writer.engine.scan(sweep.range(of: stretch), limit: EvictionSweep.pageSize)
        entries += page.prefix(sweep.note(page.lazy.map(\.key), in: stretch))
      }
      search.offer(entries, histories)
      choice = search.choose()
      // Where memory limits the victims, these are the best of as many entries as all of them would need.
    } while !isOneLook && (!choice.isEnough && !choice.isBeginning || search.seen < search.goal(atLeast: 0))
  }

  /// How entries were used. That only decides the order: if it cannot be read, the write must not fail.
  private func histories(of keys: [CacheKey]) -> [AccessHistory] {
    (try? writer.accesses.histories(of: keys)) ?? keys.map { _ in AccessHistory() }
  }
}
