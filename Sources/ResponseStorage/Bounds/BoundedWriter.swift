internal import StorageSPI

/// Writes to a store that must not hold more than its limits allow.
///
/// The engine checks the limits under its own lock, so that they hold at every instant, whoever else writes. While there
/// is room that is all. Where there is none, what has to go is removed in the same batch, on condition that it is still
/// what was chosen; where somebody else was faster, it is chosen anew.
struct BoundedWriter: Sendable {
  /// So many times others have to be faster for a write to give up.
  static let maximumAttempts = 100
  /// How many entries a batch removes at most.
  static let batchSize = 1_000

  let engine: any StorageEngine
  let clock: any WallClock
  let limits: StoreLimits?
  let usage: UsageCounter
  let uses: EntryUses
  let sweep: ExpirySweep?
  private let turns = Turns()

  init(
    engine: any StorageEngine, clock: any WallClock, limits: StoreLimits?, usage: UsageCounter, uses: EntryUses,
    removesExpired: Bool
  ) {
    self.engine = engine
    self.clock = clock
    self.limits = limits
    self.usage = usage
    self.uses = uses
    sweep = limits != nil && removesExpired ? ExpirySweep(engine: engine) : nil
  }

  /// Makes all the changes of `batch`, or none; it stores the entry under `key`, of `bytes` bytes.
  ///
  /// - Throws: `StorageError`: what the engine throws; `tooLarge` where the entry alone is over the limits, `overBounds`
  ///   where nothing may go, `busy` where others fill the store all the time.
  func apply(_ batch: WriteBatch, storing key: CacheKey, bytes: Int) async throws(StorageError) {
    guard let limits else { return try await engine.apply(batch) }
    guard bytes <= limits.maxBytes else { throw limits.tooLarge(key, bytes: bytes) }
    var batch = batch
    batch.bounds = limits.bounds
    let expired = await sweep?.expired(near: key, at: clock.now) ?? []
    // What the batch alone fails at, but for want of room, is what the caller has to know: a conflict above all.
    if try await isApplied(
      batch.removing(expired), butNotOn: expired.isEmpty ? [.overBounds] : [.overBounds, .conflict])
    {
      return
    }
    let room = RoomMaker(writer: self, limits: limits, key: key, batch: batch)
    var isStale = await turns.take() || !expired.isEmpty
    defer { turns.give() }
    for _ in 0..<Self.maximumAttempts {
      if isStale, try await isApplied(batch, butNotOn: [.overBounds]) { return }
      if try await room.isMadeAndFilled() { return }
      isStale = true
    }
    throw limits.neverRoom(for: key)
  }

  /// Makes the changes of `batch`, unless there is no room, or an entry was changed by somebody else.
  func isApplied(
    _ batch: WriteBatch, butNotOn codes: [StorageError.Code] = [.overBounds, .conflict]
  ) async throws(StorageError) -> Bool {
    do throws(StorageError) {
      try await engine.apply(batch)
      return true
    } catch {
      guard codes.contains(error.code) else { throw error }
      return false
    }
  }
}

extension WriteBatch {
  /// The keys that the batch is about.
  var keys: Set<CacheKey> { Set(finalSizes.keys) }

  /// The sizes of the payloads under the keys that it changes, as it leaves them; `nil` where there is none afterwards.
  var finalSizes: [CacheKey: Int?] {
    var sizes: [CacheKey: Int?] = [:]
    for operation in operations {
      switch operation {
      case .put(let key, let payload, _): sizes[key] = .some(payload.count)
      case .remove(let key): sizes[key] = .some(nil)
      case .require: continue
      }
    }
    return sizes
  }

  /// The batch that also removes `entries`, but for those that it is about itself.
  func removing(_ entries: [EntrySummary]) -> WriteBatch {
    guard !entries.isEmpty else { return self }
    let own = keys
    var batch = self
    for entry in entries where !own.contains(entry.key) {
      batch.remove(entry.key, ifStill: entry.metadata.checksum)
    }
    return batch
  }

  /// Adds the removal of an entry, on condition that it is still what was seen.
  mutating func remove(_ key: CacheKey, ifStill checksum: UInt64) {
    require(key, .checksum(checksum))
    remove(key)
  }
}
