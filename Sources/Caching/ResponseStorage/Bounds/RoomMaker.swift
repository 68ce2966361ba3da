internal import StorageSPI

/// Makes room for one batch, and writes it.
struct RoomMaker: Sendable {
  let writer: BoundedWriter
  let limits: StoreLimits
  let key: CacheKey
  /// The batch to write. The entries that it changes are never evicted.
  let batch: WriteBatch

  /// Chooses victims, removes them and writes the batch. Returns `false` if another writer has changed the store
  /// meanwhile, or if this call made only some of the room.
  ///
  /// Cost: a pass over all entries, in bounded memory. To make it rare, up to a sixty-fourth of the entries may be
  /// evicted beyond the need; in a store of fewer than 64 entries, none.
  ///
  /// - Throws: `CacheError`: what the engine throws; `overBounds` if no entry may be evicted.
  func makeAndFill() async throws(CacheError) -> Bool {
    let (held, needed) = try await excess()
    guard needed != EntryTally.Count() else { return false }
    var selection = VictimSelection(needed: needed, spareCount: held.entries / 64)
    try await consider(&selection)
    let victims = selection.chosen
    guard selection.isEnough else {
      if selection.isBeginning { _ = try await remove(victims) }
      if limits.eviction == .none, !selection.isBeginning { throw limits.noRoom(for: key) }
      return false
    }
    let last = victims.suffix(BoundedWriter.batchSize)
    guard try await remove(victims.dropLast(last.count)) else { return false }
    return try await remove(last, with: batch)
  }

  /// How much the store holds, and how much of that must go to make the batch fit.
  private func excess() async throws(CacheError) -> (held: EntryTally.Count, needed: EntryTally.Count) {
    let held = try await StoreCount(writer.engine).tally.total(except: Lease.namespace)
    var after = held
    for (key, newSize) in batch.finalSizes where !key.text.hasPrefix(Lease.keyPrefix) {
      if let oldSize = try await size(of: key) { after = after + .init(entries: -1, payloadBytes: -oldSize) }
      if let newSize { after = after + .init(entries: 1, payloadBytes: newSize) }
    }
    let allowed = EntryTally.Count(entries: limits.maxEntries, payloadBytes: limits.maxBytes)
    return (held, after.excess(over: allowed))
  }

  /// The size of the payload under `key`; `nil` if there is none, or if the entry is damaged and cannot be listed. Room
  /// for a damaged entry is made again.
  private func size(of key: CacheKey) async throws(CacheError) -> Int? {
    do throws(CacheError) {
      return try await writer.engine.scan(KeyRange(prefix: key.text), limit: 1).first { $0.key == key }?.payloadBytes
    } catch {
      guard error.code == .damaged else { throw error }
      return nil
    }
  }

  /// Offers `selection` all entries that may be evicted.
  private func consider(_ selection: inout VictimSelection) async throws(CacheError) {
    let (own, now) = (batch.keys, writer.clock.now)
    // How entries were used only decides the order: if it cannot be read, the write must not fail.
    let accesses = limits.eviction.dependsOnUse ? try? writer.accesses.reader() : nil
    // A damaged entry can be neither counted nor evicted, but must not prevent the eviction of others.
    var walk = StoreWalk(engine: writer.engine, pageSize: BoundedWriter.batchSize)
    while let page = try await walk.next() {
      for entry in page where !own.contains(entry.key) && !entry.key.text.hasPrefix(Lease.keyPrefix) {
        let history = accesses?.history(of: entry.key) ?? AccessHistory()
        if let candidate = EvictionCandidate(entry, history: history, policy: limits.eviction, now: now) {
          selection.offer(candidate)
        }
      }
    }
  }

  /// Removes `victims` and makes the changes of `batch`, in batches of bounded size. Returns `false` if an entry has
  /// changed meanwhile, or there is still no room.
  private func remove(
    _ victims: ArraySlice<EvictionCandidate>, with batch: WriteBatch = WriteBatch()
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

  private func remove(_ victims: [EvictionCandidate]) async throws(CacheError) -> Bool {
    try await remove(victims[...])
  }
}
