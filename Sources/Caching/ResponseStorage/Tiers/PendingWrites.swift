internal import StorageSPI
internal import Synchronization

/// The writes that far did not take because it was away. They are kept in a store of their own beside near, until far
/// has them.
///
/// Only entries to store are kept. A removal fails while far is away: no one else would know of it.
final class PendingWrites: Sendable {
  /// The most entries that are kept. Further writes fail as they would without near.
  static let maximumEntries = 10_000

  struct State {
    /// The checksums of the entries to write.
    var checksums: [CacheKey: UInt64] = [:]
    var engine: (any StorageEngine)?
    var passing: Task<Void, Never>?
    var lastAttempt: ContinuousClock.Instant?
    /// The reason why a write was given up, and how many were; `nil` for all.
    var lost: (reason: CacheError, count: Int?)?
  }

  private let open: @Sendable () async throws(CacheError) -> any StorageEngine
  let far: any StorageEngine
  let clock: any WallClock
  let mutex = AsyncMutex()
  let state = Mutex(State())
  /// The number of entries, which every read looks at.
  private let number = Atomic(0)

  /// No pending writes yet; `open` creates their store when it is needed.
  init(
    to far: any StorageEngine, clock: any WallClock,
    _ open: @escaping @Sendable () async throws(CacheError) -> any StorageEngine
  ) {
    (self.far, self.clock, self.open) = (far, clock, open)
  }

  /// The number of pending writes that this process knows.
  var count: Int { number.load(ordering: .acquiring) }

  /// What was given up because another machine had changed the entry first, or it could not be read; `nil` if nothing was.
  var loss: CacheError? {
    guard let lost = state.withLock(\.lost) else { return nil }
    let number = lost.count.map { "\($0)" } ?? "all"
    return CacheError(
      lost.reason.code, "\(number) of the writes made while far was away were given up: \(lost.reason.message)")
  }

  /// Reads the pending writes of an earlier process from their store.
  ///
  /// - Throws: `CacheError`: the store cannot be opened or read.
  func load() async throws(CacheError) {
    let engine = try await engine()
    var range = KeyRange()
    while true {
      let page = try await engine.scan(range, limit: 1_000)
      set(page.map { ($0.key, $0.metadata.checksum) })
      guard page.count == 1_000, let last = page.last else { return }
      range.after = last.key
    }
  }

  /// Closes the store and gives up what is in it, because of `reason`.
  func giveUp(_ reason: CacheError) async {
    let engine = state.withLock { state in
      defer { (state.engine, state.checksums, state.lost) = (nil, [:], (reason, nil)) }
      return state.engine
    }
    number.store(0, ordering: .releasing)
    try? await engine?.close()
  }

  /// The checksum of the entry to write under `key`; `nil` if there is none.
  func checksum(of key: CacheKey) -> UInt64? { count == 0 ? nil : state.withLock { $0.checksums[key] } }

  /// What `body` makes of the entry to write under `key`; `nil` if there is none.
  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    guard checksum(of: key) != nil, let engine = state.withLock(\.engine) else { return nil }
    return try await engine.read(key) { bytes, metadata throws(CacheError) in
      try body(bytes, PendingWrite.original(metadata))
    }
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
    let isKept = !changes.finals.isEmpty && changes.finals.allSatisfy { $0.put != nil } && !batch.storesLease
    guard isKept, count + changes.finals.count <= Self.maximumEntries else { return false }
    await mutex.lock()
    defer { mutex.unlock() }
    let bases = try await bases(of: batch, held)
    var kept = WriteBatch()
    for case (let key, let put?) in changes.finals {
      let write = PendingWrite(key, base: bases[key] ?? .earlier, bounds: batch.bounds, put)
      kept.put(key, payload: put.payload, metadata: write.metadata)
    }
    do throws(CacheError) { try await engine().apply(kept) } catch { return false }
    set(changes.finals.map { ($0.key, $0.put?.metadata.checksum ?? 0) })
    return true
  }

  /// Forgets the writes of `keys`: far has taken later ones.
  func forget(_ keys: some Sequence<CacheKey>) async {
    guard count > 0 else { return }
    let known = keys.filter { checksum(of: $0) != nil }
    guard !known.isEmpty, let engine = state.withLock(\.engine) else { return }
    var batch = WriteBatch()
    for key in known { batch.remove(key) }
    guard (try? await engine.apply(batch)) != nil else { return }
    drop(known)
  }

  /// Makes a last attempt to pass the writes on, and closes their store.
  func close() async {
    await passOn()
    let engine = state.withLock { state in
      defer { state.engine = nil }
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
    if let engine = state.withLock(\.engine) { return engine }
    let engine = try await open()
    let isFirst = state.withLock { state in
      guard state.engine == nil else { return false }
      state.engine = engine
      return true
    }
    if isFirst { return engine }
    try await engine.close()
    return try await self.engine()
  }

  private func set(_ writes: [(CacheKey, UInt64)]) {
    state.withLock { state in
      for (key, checksum) in writes { state.checksums[key] = checksum }
      number.store(state.checksums.count, ordering: .releasing)
    }
  }

  func drop(_ keys: [CacheKey]) {
    state.withLock { state in
      for key in keys { state.checksums[key] = nil }
      number.store(state.checksums.count, ordering: .releasing)
    }
  }
}

extension WriteBatch {
  /// Whether it stores a lease, which only means something in far.
  fileprivate var storesLease: Bool {
    operations.contains { if case .put(let key, _, _) = $0 { key.isLease } else { false } }
  }
}
