internal import StorageSPI
internal import Synchronization

/// Passing the writes on to far.
extension PendingWrites {
  /// The shortest time between two attempts.
  private static let pause = Duration.seconds(1)

  /// Starts to pass the writes on in the background, unless that was tried a moment ago.
  func passOnSoon() {
    guard count > 0 else { return }
    state.withLock { state in
      let isDue = state.lastAttempt.map { $0.duration(to: .now) >= Self.pause } ?? true
      guard isDue, state.passing == nil else { return }
      start(&state)
    }
  }

  /// Passes the writes on as far as far takes them.
  func passOn() async {
    guard count > 0 else { return }
    let task = state.withLock { state in
      if state.passing == nil { start(&state) }
      return state.passing
    }
    await task?.value
  }

  private func start(_ state: inout State) {
    state.lastAttempt = .now
    state.passing = Task {
      await self.passAll()
      self.state.withLock { $0.passing = nil }
    }
  }

  private func passAll() async {
    var hasPassed = false
    for key in state.withLock({ Array($0.writes.keys) }) {
      await mutex.lock()
      defer { mutex.unlock() }
      do throws(CacheError) {
        try await pass(key)
        hasPassed = true
        note(nil)
      } catch {
        if [.cancelled, .closed].contains(error.code) { break }
        // The others need not wait for one that cannot be passed on.
        guard !error.isAway else { break }
        note(error)
      }
    }
    if hasPassed { didPass() }
  }

  /// Passes one write on, or gives it up.
  ///
  /// - Throws: `CacheError`: it must be tried again.
  private func pass(_ key: CacheKey) async throws(CacheError) {
    let engine = try await engine()
    var (removal, reason) = (WriteBatch(), CacheError?.none)
    do throws(CacheError) {
      let found = try await engine.read(key) { bytes, metadata throws(CacheError) in
        (payload: bytes.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
      }
      guard let found else { return drop([key]) }
      removal.require(key, .checksum(found.metadata.checksum))
      reason = try await write(try PendingWrite(key, found.payload, found.metadata))
    } catch {
      guard error.isDamage else { throw error }
      reason = error
    }
    removal.remove(key)
    do throws(CacheError) { try await engine.apply(removal) } catch {
      // Another process has written it again.
      guard error.code == .conflict else { throw error }
      return
    }
    drop([key])
    if let reason { state.withLock { $0.lost = (reason, $0.lost.map { $0.count.map { $0 + 1 } } ?? 1) } }
  }

  /// Stores the entry in far. Returns why that was given up; `nil` if far has it, or a later one.
  private func write(_ pending: PendingWrite) async throws(CacheError) -> CacheError? {
    let (key, put) = (pending.key, pending.put)
    do throws(CacheError) {
      let held = try await far.read(key) { _, metadata throws(CacheError) in metadata }
      counts.noteAnswer()
      if held?.checksum == put.metadata.checksum || put.metadata.state(at: clock.now) == .expired { return nil }
      switch pending.base {
      case .expected(let expectation):
        // If far no longer has the entry, there is nothing newer to protect.
        guard held == nil || expectation.isMet(by: held) else { return .conflict(on: key) }
      case .earlier:
        if let held, held.storedAt >= put.metadata.storedAt { return nil }
      }
      try await store(pending, over: held)
      return nil
    } catch {
      counts.note(error)
      // Another machine has stored the entry in between: then the later one wins.
      if error.code == .conflict, pending.base == .earlier { return try await write(pending) }
      if [.conflict, .overBounds, .tooLarge].contains(error.code) { return error }
      // Damage of far is no damage of this store.
      throw error.isDamage ? CacheError(.failed, error.message, hint: error.hint) : error
    }
  }

  private func store(_ pending: PendingWrite, over held: EntryMetadata?) async throws(CacheError) {
    var batch = WriteBatch()
    batch.require(pending.key, held.map { .checksum($0.checksum) } ?? .absent)
    batch.put(pending.key, payload: pending.put.payload, metadata: pending.put.metadata)
    let limits = pending.bounds.map { StoreLimits(maxEntries: $0.maxEntries, maxBytes: $0.maxPayloadBytes) }
    let writer = BoundedWriter(
      engine: far, clock: clock, limits: limits, operations: OperationCounter(), accesses: AccessRecorder(),
      sweeps: SweepKeeper(nil), removesExpired: false)
    try await writer.apply(batch, storing: pending.key, bytes: pending.put.payload.count)
  }
}
