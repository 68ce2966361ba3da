internal import StorageSPI
internal import Synchronization

/// The writes that far did not take because it was away. They are kept in a store of their own beside near, until far
/// has them.
///
/// Only entries to store are kept. A removal fails while far is away: other machines would not learn of it.
final class PendingWrites: Sendable {
  /// The most entries that are kept, and the most bytes of payload. Further writes fail as they would without near.
  static let maximumEntries = 10_000
  static let maximumBytes = 256 << 20

  struct State {
    /// The checksums and sizes of the entries to write.
    var writes: [CacheKey: (checksum: UInt64, bytes: Int)] = [:]
    var engine: (any StorageEngine)?
    var passing: Task<Void, Never>?
    var lastAttempt: ContinuousClock.Instant?
    var isClosed = false
    /// Why writes cannot be read or passed on now, though far is there.
    var failure: CacheError?
    /// The reason why a write was given up, and how many were; `nil` for all.
    var lost: (reason: CacheError, count: Int?)?
  }

  private let open: @Sendable () async throws(CacheError) -> any StorageEngine
  /// Whether the store outlives the process: otherwise writes would be acknowledged and then lost.
  private let canKeep: Bool
  /// Told whether far answers.
  let counts = TierCounts()
  /// Called after far has taken writes.
  let didPass: @Sendable () -> Void
  let far: any StorageEngine
  let clock: any WallClock
  let mutex = AsyncMutex()
  let state = Mutex(State())
  /// The number of entries, which every read looks at.
  private let number = Atomic(0)

  /// No pending writes yet; `open` creates their store when it is needed.
  ///
  /// - Parameters:
  ///   - canKeep: whether that store outlives the process.
  ///   - didPass: called after far has taken writes.
  init(
    to far: any StorageEngine, clock: any WallClock, canKeep: Bool, didPass: @escaping @Sendable () -> Void,
    _ open: @escaping @Sendable () async throws(CacheError) -> any StorageEngine
  ) {
    (self.far, self.clock, self.canKeep, self.didPass, self.open) = (far, clock, canKeep, didPass, open)
  }

  /// The number of pending writes that this process knows.
  var count: Int { number.load(ordering: .acquiring) }

  /// What was given up because another machine had changed the entry first, or cannot be read; `nil` if nothing is.
  var loss: CacheError? {
    let (lost, failure) = state.withLock { ($0.lost, $0.failure) }
    if let failure {
      return CacheError(
        failure.code, "what was written while far was away still waits: \(failure.message)", hint: failure.hint)
    }
    guard let lost else { return nil }
    guard let count = lost.count else {
      return CacheError(
        lost.reason.code, "what was written while far was away is lost: \(lost.reason.message)",
        hint: "fetch it again")
    }
    return CacheError(
      lost.reason.code,
      "of the writes made while far was away, \(count) \(count == 1 ? "was" : "were") given up: \(lost.reason.message)")
  }

  /// Reads the pending writes of an earlier process from their store.
  ///
  /// - Throws: `CacheError`: the store cannot be opened or read.
  func load() async throws(CacheError) {
    let engine = try await engine()
    var range = KeyRange()
    while true {
      let page = try await engine.scan(range, limit: 1_000)
      set(page.map { ($0.key, $0.metadata.checksum, $0.payloadBytes) })
      guard page.count == 1_000, let last = page.last else { return }
      range.after = last.key
    }
  }

  /// Records why writes cannot be read or passed on now; `nil` if they can.
  func note(_ failure: CacheError?) { state.withLock { $0.failure = failure } }

  /// Closes the store and gives up what is in it, because of `reason`.
  func giveUp(_ reason: CacheError) async {
    let engine = state.withLock { state in
      defer { (state.engine, state.writes, state.lost) = (nil, [:], (reason, nil)) }
      return state.engine
    }
    number.store(0, ordering: .releasing)
    try? await engine?.close()
  }

  /// The checksum of the entry to write under `key`; `nil` if there is none.
  func checksum(of key: CacheKey) -> UInt64? { count == 0 ? nil : state.withLock { $0.writes[key]?.checksum } }

  /// What `body` makes of the entry to write under `key`; `nil` if there is none, or it cannot be read.
  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    guard checksum(of: key) != nil, let engine = state.withLock(\.engine) else { return nil }
    let answer = try? await engine.read(key) { bytes, metadata -> Result<Output, CacheError> in
      do throws(CacheError) { return .success(try body(bytes, PendingWrite.original(metadata))) } catch {
        return .failure(error)
      }
    }
    return try answer?.get()
  }

  /// Keeps the entries that `batch` stores, if that is all it does.
  ///
  /// - Parameter held: the checksum of what near holds under a key.
  /// - Returns: whether they are kept.
  /// - Throws: `CacheError` with the code `conflict` if a requirement of the batch does not hold, as far as near knows.
  func keep(
    _ batch: WriteBatch, _ held: (CacheKey) async -> UInt64?
  ) async throws(CacheError) -> Bool {
    let changes = TieredChanges(batch)
    guard canKeep, batch.canWait, changes.finals.allSatisfy({ $0.put != nil }) else { return false }
    await mutex.lock()
    defer { mutex.unlock() }
    let bytes = state.withLock { $0.writes.values.reduce(0) { $0 + $1.bytes } }
    guard count + changes.finals.count <= Self.maximumEntries, bytes + changes.payloadBytes <= Self.maximumBytes else {
      return false
    }
    let bases = try await bases(of: batch, held)
    var kept = WriteBatch()
    for case (let key, let put?) in changes.finals {
      let write = PendingWrite(key, base: bases[key] ?? .earlier, bounds: batch.bounds, put)
      kept.put(key, payload: put.payload, metadata: write.metadata)
    }
    do throws(CacheError) { try await engine().apply(kept) } catch { return false }
    set(changes.finals.map { ($0.key, $0.put?.metadata.checksum ?? 0, $0.put?.payload.count ?? 0) })
    return true
  }

  /// Makes `changes` in far by `commit`, and forgets the writes that they take the place of. None of these is passed on
  /// meanwhile.
  func superseding<Output>(
    _ changes: TieredChanges, _ commit: () async throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    guard changes.finals.contains(where: { checksum(of: $0.key) != nil }) else { return try await commit() }
    await mutex.lock()
    defer { mutex.unlock() }
    let output = try await commit()
    for (key, _) in changes.finals {
      guard let checksum = checksum(of: key), let engine = try? await engine() else { continue }
      var removal = WriteBatch()
      removal.remove(key, ifStill: checksum)
      if (try? await engine.apply(removal)) != nil { drop([key]) }
    }
    return output
  }

  /// Makes a last attempt to pass the writes on, and closes their store.
  func close() async {
    await passOn()
    let engine = state.withLock { state in
      defer { (state.engine, state.isClosed) = (nil, true) }
      return state.engine
    }
    try? await engine?.close()
  }

  /// What the writes of `batch` build on. A write on top of a pending one builds on what that one does.
  private func bases(
    of batch: WriteBatch, _ held: (CacheKey) async -> UInt64?
  ) async throws(CacheError) -> [CacheKey: PendingWrite.Base] {
    var bases: [CacheKey: PendingWrite.Base] = [:]
    for operation in batch.operations {
      guard case .require(let key, let expectation) = operation, !key.isLease else { continue }
      let pending = checksum(of: key)
      let present = if let pending { UInt64?.some(pending) } else { await held(key) }
      guard expectation.isMet(byChecksum: present) else { throw .conflict(on: key) }
      if pending == nil { bases[key] = .expected(expectation) }
    }
    let engine = try await engine()
    for (key, _) in TieredChanges(batch).finals where checksum(of: key) != nil {
      bases[key] = try await engine.read(key) { _, metadata throws(CacheError) in
        try PendingWrite(key, [], metadata).base
      }
    }
    return bases
  }

  func engine() async throws(CacheError) -> any StorageEngine {
    let (present, isClosed) = state.withLock { ($0.engine, $0.isClosed) }
    if let present { return present }
    if isClosed { throw .storeClosed }
    let engine = try await open()
    let isKept = state.withLock { state in
      guard state.engine == nil, !state.isClosed else { return false }
      state.engine = engine
      return true
    }
    if isKept { return engine }
    try await engine.close()
    return try await self.engine()
  }

  private func set(_ writes: [(CacheKey, checksum: UInt64, bytes: Int)]) {
    state.withLock { state in
      for (key, checksum, bytes) in writes { state.writes[key] = (checksum, bytes) }
      number.store(state.writes.count, ordering: .releasing)
    }
  }

  func drop(_ keys: [CacheKey]) {
    state.withLock { state in
      for key in keys { state.writes[key] = nil }
      number.store(state.writes.count, ordering: .releasing)
    }
  }
}

extension WriteBatch {
  /// Whether the batch means the same later: not if it stores a lease, or requires what only far has, such as a
  /// dictionary. That it gives a lease back does not matter, as the lease runs out.
  fileprivate var canWait: Bool {
    let givenBack = Set(operations.compactMap { if case .remove(let key) = $0 { key } else { nil } })
    return operations.allSatisfy { operation in
      switch operation {
      case .put(let key, _, _): !key.isLease
      case .require(let key, _): !key.isLease || givenBack.contains(key)
      case .remove: true
      }
    }
  }
}
