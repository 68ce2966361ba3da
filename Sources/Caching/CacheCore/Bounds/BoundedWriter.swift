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

  let engine: any StorageEngine
  let clock: any WallClock
  let limits: StoreLimits?
  let uses: StoreUse
  let expiry: ExpirySweep
  /// Whether the engine lists keys in order.
  let isOrdered: Bool
  /// A store of at most this many entries is looked at whole.
  let wholeLook: Int
  private let removesExpired: Bool
  private let mutex = AsyncMutex()

  init(
    engine: any StorageEngine, clock: any WallClock, limits: StoreLimits?, uses: StoreUse, isOrdered: Bool,
    removesExpired: Bool, wholeLook: Int = EvictionPass.wholeLook
  ) {
    self.engine = engine
    self.clock = clock
    self.limits = limits
    self.uses = uses
    self.isOrdered = isOrdered
    self.wholeLook = wholeLook
    self.removesExpired = removesExpired
    expiry = ExpirySweep(engine: engine, isOrdered: isOrdered)
  }

  /// Makes all the changes of `batch`, or none. The batch stores the entry under `key`, which has `bytes` bytes.
  ///
  /// - Throws: `CacheError`: what the engine throws; `tooLarge` if the entry alone exceeds the limits, `overBounds`
  ///   if no entry may be evicted, `busy` if other writers keep filling the store, `cancelled`.
  func apply(
    _ batch: WriteBatch, storing key: CacheKey, bytes: Int
  ) async throws(CacheError) {
    if let limits, bytes > limits.maxBytes { throw limits.tooLarge(key, bytes: bytes) }
    var batch = batch
    batch.bounds = limits?.bounds
    let expired = removesExpired ? await expiry.expired(near: key, at: clock.now) : []
    let removesOthers = !expired.isEmpty
    // Anything but a lack of room is the caller's own failure, above all a conflict. The other entries may have changed, or
    // lie beside damage.
    let passed: [CacheError.Code] = removesOthers ? [.overBounds, .conflict, .damaged] : [.overBounds]
    if try await tryToApply(batch.removing(expired), butNotOn: passed) { return }
    guard let limits else { return try await engine.apply(batch) }
    let pass = EvictionPass(writer: self, limits: limits, key: key, batch: batch)
    var isStale = await mutex.lock() || removesOthers
    defer { mutex.unlock() }
    var attempts = 0
    while attempts < Self.maximumAttempts {
      if isStale, try await tryToApply(batch, butNotOn: [.overBounds]) { return }
      switch try await pass.run() {
      case .written: return
      case .evicted:
        // Far more than one pass evicts may have to go, as after an import.
        if Task.isCancelled { throw .cancelled }
        isStale = false
      case .outrun:
        isStale = true
        attempts += 1
      }
    }
    throw limits.neverRoom(for: key)
  }

  /// Makes the changes of `batch`; `false` if there is no room, or another writer has changed an entry.
  func tryToApply(
    _ batch: WriteBatch, butNotOn codes: [CacheError.Code] = [.overBounds, .conflict]
  ) async throws(CacheError) -> Bool {
    do throws(CacheError) {
      expiry.note(batch)
      try await engine.apply(batch)
      return true
    } catch {
      guard codes.contains(error.code) else { throw error }
      return false
    }
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

/// A mutex that a task may hold while it suspends. The others wait in the order of their calls, without blocking a
/// thread.
final class AsyncMutex: Sendable {
  private struct State {
    var isLocked = false
    var waiting: [CheckedContinuation<Bool, Never>] = []
  }

  private let state = Mutex(State())

  /// Locks the mutex, and returns whether it had to wait for another task. The caller must unlock it.
  @discardableResult func lock() async -> Bool {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.isLocked { state.waiting.append(continuation) }
        defer { state.isLocked = true }
        return !state.isLocked
      }
      if isFree { continuation.resume(returning: false) }
    }
  }

  /// Unlocks the mutex, or hands it to the task that has waited longest.
  func unlock() {
    let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.isLocked = false
      return nil
    }
    next?.resume(returning: true)
  }
}
