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

  /// Counts what has to go, chooses victims, removes them and writes the batch. Returns `false` if another writer has
  /// changed the store meanwhile, or if this call made only some of the room.
  ///
  /// Cost: a look at all entries of a small store; otherwise at some for each that goes, in bounded memory. Up to a
  /// sixty-fourth of the entries may be evicted beyond the need, and no more than `victimsAtOnce`.
  ///
  /// - Throws: `CacheError`: what the engine throws; `overBounds` if no entry may be evicted.
  func makeAndFill() async throws(CacheError) -> Bool {
    let (count, needed) = try await excess()
    let held = count.total()
    guard needed.entries > 0 || needed.payloadBytes > 0 else { return false }
    if limits.eviction == .none {
      let mayFindExpired =
        held.entries <= writer.wholeLook
        ? held.earliestExpiry <= writer.clock.now : writer.expiry.mayFindExpired(in: count, at: writer.clock.now)
      guard mayFindExpired else { throw limits.noRoom(for: key) }
    }
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

  private func makeSearch(for needed: EntryCount, spare: Int) -> VictimSearch {
    VictimSearch(
      limits.eviction, needed: needed, spareCount: spare, now: writer.clock.now, excluding: Array(batch.keys))
  }

  /// How many of `entries` entries may go beyond the need: none if few are to stay of many, such as after an import.
  private func spare(of entries: Int) -> Int { min(min(entries, limits.maxEntries) / 64, Self.victimsAtOnce - 1) }

  /// Whether the store is so large that looking at all entries would cost much more than looking at some.
  private func isLarge(_ held: EntryCount, for needed: EntryCount) -> Bool {
    guard limits.eviction != .none, held.entries > writer.wholeLook else { return false }
    let averageBytes = max(1, held.payloadBytes / held.entries)
    let count = max(needed.entries, needed.payloadBytes / averageBytes) + spare(of: held.entries)
    return count < held.entries / VictimSearch.entriesPerVictim
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

  /// How much the store holds without leases, and how much of that must go to make the batch fit.
  private func excess() async throws(CacheError) -> (count: StoreCount, needed: EntryCount) {
    let count = try await writer.engine.count().withoutLeases
    var after = count.total()
    for (key, newSize) in batch.finalSizes where !key.text.hasPrefix(Lease.keyPrefix) {
      if let oldSize = try await size(of: key) { after.remove(payloadBytes: oldSize) }
      if let newSize { after += EntryCount(entries: 1, payloadBytes: newSize) }
    }
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
      // An engine that is not ordered may list an entry twice.
      var seen: Set<CacheKey> = []
      for victim in page where seen.insert(victim.key).inserted { batch.remove(victim.key, ifStill: victim.checksum) }
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
    var walk = StoreWalk(writer.engine, isOrdered: writer.sweeps.isOrdered)
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
    var sweep = writer.sweeps.sweep(near: key)
    defer { writer.sweeps.keep(sweep) }
    let (empty, firstRound) = (search, sweep.rounds)
    var (round, choice) = (firstRound, search.choose())
    repeat {
      let goal = max(1, search.goal(atLeast: Self.victimsAtOnce) - search.seen)
      var entries: [ScannedEntry] = []
      while entries.count < min(goal, BoundedWriter.batchSize) {
        let stretch = sweep.nextStretch()
        if sweep.rounds != round {
          // The next round comes to the same entries again: look at those of one round alone.
          guard round == firstRound else { return search.offer(entries, histories) }
          (search, entries, round) = (empty, [], sweep.rounds)
        }
        let page = try await writer.engine.scan(sweep.request(for: stretch))
        entries += page.entries.prefix(sweep.note(page, in: stretch))
      }
      search.offer(entries, histories)
      choice = search.choose()
      // Where memory limits the victims, these are the best of as many entries as all of them would need.
    } while !choice.isEnough && !choice.isBeginning || search.seen < search.goal(atLeast: 0)
  }

  /// How entries were used. That only decides the order: if it cannot be read, the write must not fail.
  private func histories(of keys: [CacheKey]) -> [AccessHistory] {
    (try? writer.accesses.histories(of: keys)) ?? keys.map { _ in AccessHistory() }
  }
}
