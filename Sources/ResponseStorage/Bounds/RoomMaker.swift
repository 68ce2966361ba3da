internal import StorageSPI

/// Makes room for one batch, and writes it.
struct RoomMaker: Sendable {
  let writer: BoundedWriter
  let limits: StoreLimits
  let key: CacheKey
  /// What is to be written; the entries that it is about never go.
  let batch: WriteBatch

  /// Chooses what has to go, removes it and writes the batch; `false` where somebody else changed the store meanwhile, or
  /// only a beginning could be made.
  ///
  /// Cost: a pass over all entries, with bounded memory. To make it rare, a sixty-fourth of the entries may go beyond what
  /// has to; in a store of fewer than 64 that is none.
  ///
  /// - Throws: `StorageError`: what the engine throws; `overBounds` where nothing may go.
  func isMadeAndFilled() async throws(StorageError) -> Bool {
    let (held, needed) = try await excess()
    guard needed != EntryTally.Count() else { return false }
    var selection = VictimSelection(needed: needed, spareCount: held.entries / 64)
    try await consider(&selection)
    let victims = selection.chosen
    guard selection.isEnough else {
      if selection.isBeginning { _ = try await areRemoved(victims) }
      if limits.eviction == .none, !selection.isBeginning { throw limits.noRoom(for: key) }
      return false
    }
    let last = victims.suffix(BoundedWriter.batchSize)
    guard try await areRemoved(victims.dropLast(last.count)) else { return false }
    return try await areRemoved(last, with: batch)
  }

  /// How much the store holds, and how much of it has to go for the batch to fit.
  private func excess() async throws(StorageError) -> (held: EntryTally.Count, needed: EntryTally.Count) {
    let held = try await StoreCount(writer.engine).tally.total(except: Lease.namespace)
    var after = held
    for (key, newSize) in batch.finalSizes where !key.text.hasPrefix(Lease.keyPrefix) {
      if let oldSize = try await size(of: key) { after = after + .init(entries: -1, payloadBytes: -oldSize) }
      if let newSize { after = after + .init(entries: 1, payloadBytes: newSize) }
    }
    let allowed = EntryTally.Count(entries: limits.maxEntries, payloadBytes: limits.maxBytes)
    return (held, after.excess(over: allowed))
  }

  /// The size of the payload under `key`; `nil` where there is none, or an entry that cannot be listed, whose room is
  /// then made once more.
  private func size(of key: CacheKey) async throws(StorageError) -> Int? {
    do throws(StorageError) {
      return try await writer.engine.scan(KeyRange(prefix: key.text), limit: 1).first { $0.key == key }?.payloadBytes
    } catch {
      guard error.code == .damaged else { throw error }
      return nil
    }
  }

  /// Shows all entries that may go to `selection`.
  private func consider(_ selection: inout VictimSelection) async throws(StorageError) {
    let (own, now) = (batch.keys, writer.clock.now)
    // How entries were used decides over the order alone: where it cannot be read, a write must not fail for it.
    let uses = limits.eviction.dependsOnUse ? try? writer.uses.reader() : nil
    // What is damaged can neither be counted nor go; it must not keep the rest from making room.
    var walk = StoreWalk(engine: writer.engine, pageSize: BoundedWriter.batchSize)
    while let page = try await walk.next() {
      for entry in page where !own.contains(entry.key) && !entry.key.text.hasPrefix(Lease.keyPrefix) {
        let use = uses?.use(of: entry.key) ?? EntryUse()
        if let candidate = EvictionCandidate(entry, use: use, policy: limits.eviction, now: now) {
          selection.offer(candidate)
        }
      }
    }
  }

  /// Removes `victims` and makes the changes of `batch`, in batches of bounded size; `false` where one of them was
  /// changed meanwhile, or there still is no room.
  private func areRemoved(
    _ victims: ArraySlice<EvictionCandidate>, with batch: WriteBatch = WriteBatch()
  ) async throws(StorageError) -> Bool {
    var rest = victims
    while !rest.isEmpty {
      let page = rest.prefix(BoundedWriter.batchSize)
      rest = rest.dropFirst(page.count)
      var batch = rest.isEmpty ? batch : WriteBatch()
      for victim in page { batch.remove(victim.key, ifStill: victim.checksum) }
      guard try await writer.isApplied(batch) else { return false }
      writer.usage.record(evictions: page.count { !$0.isExpired })
    }
    return true
  }

  private func areRemoved(_ victims: [EvictionCandidate]) async throws(StorageError) -> Bool {
    try await areRemoved(victims[...])
  }
}
