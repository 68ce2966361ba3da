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
    await mutex.lock()
    defer { mutex.unlock() }
    for key in state.withLock({ Array($0.checksums.keys) }) {
      do throws(CacheError) {
        try await pass(key)
      } catch {
        // Far is away, or this engine's own store is: later is soon enough.
        return
      }
    }
  }

  /// Passes one write on, or gives it up.
  ///
  /// - Throws: `CacheError`: it must be tried again.
  private func pass(_ key: CacheKey) async throws(CacheError) {
    let engine = try await engine()
    var removal = WriteBatch()
    do throws(CacheError) {
      let found = try await engine.read(key) { bytes, metadata throws(CacheError) in
        (bytes.withUnsafeBufferPointer { Array($0) }, metadata)
      }
      guard let (payload, metadata) = found else { return drop([key]) }
      removal.require(key, .checksum(metadata.checksum))
      try await write(try PendingWrite(key, payload, metadata))
    } catch {
      guard error.isDamage || [.conflict, .overBounds, .tooLarge].contains(error.code) else { throw error }
      state.withLock { $0.lost = (error, $0.lost.map { $0.count.map { $0 + 1 } } ?? 1) }
    }
    removal.remove(key)
    do throws(CacheError) { try await engine.apply(removal) } catch {
      // Another process has written it again.
      guard error.code == .conflict else { throw error }
      return
    }
    drop([key])
  }

  private func write(_ pending: PendingWrite) async throws(CacheError) {
    let (key, put) = (pending.key, pending.put)
    let held = try await far.read(key) { _, metadata throws(CacheError) in metadata }
    if held?.checksum == put.metadata.checksum { return }
    switch pending.base {
    case .expected(let expectation):
      guard expectation.isMet(by: held) else { throw .conflict(on: key) }
    case .earlier:
      if let held, held.storedAt > put.metadata.storedAt { return }
    }
    var batch = WriteBatch()
    batch.require(key, held.map { .checksum($0.checksum) } ?? .absent)
    batch.put(key, payload: put.payload, metadata: put.metadata)
    let limits = pending.bounds.map { StoreLimits(maxEntries: $0.maxEntries, maxBytes: $0.maxPayloadBytes) }
    let writer = BoundedWriter(
      engine: far, clock: clock, limits: limits, operations: OperationCounter(), accesses: AccessRecorder(),
      sweeps: SweepKeeper(nil), removesExpired: false)
    _ = try await writer.apply(batch, storing: key, bytes: put.payload.count, releasing: nil)
  }
}
