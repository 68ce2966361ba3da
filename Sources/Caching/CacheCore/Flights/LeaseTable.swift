internal import FetchVocabulary
internal import StorageSPI

/// The leases in a store, as one process reads and changes them. Every change is a compare and swap: if several processes
/// try to take a lease at the same time, exactly one gets it.
struct LeaseTable: Sendable {
  /// How long a failure stays readable for waiting processes, which look at least four times a second.
  static let failureDuration = Duration.seconds(2)

  /// A lease in the store.
  struct Found: Sendable {
    /// The lease; `nil` if the entry cannot be read as one.
    let lease: Lease?
    /// The version of the entry, which changes with each renewal.
    let version: UInt64
  }

  let store: EntryStore
  let processes: any ProcessTable
  /// How long a lease holds without a renewal.
  let duration: Duration

  /// The lease under `key`, even if it has run out; `nil` if there is none.
  func find(_ key: CacheKey) async throws(CacheError) -> Found? {
    try await store.engine.read(key) { bytes, metadata throws(CacheError) in
      let revealed =
        metadata.isIntact(key: key, payload: bytes) ? try? store.transforms.revealed(metadata, key: key) : nil
      return Found(lease: revealed.flatMap { Lease($0) }, version: metadata.checksum)
    }
  }

  /// The failure with which the lease's flight has just ended.
  func failure(_ found: Found) -> CacheError? {
    found.lease.flatMap { store.clock.now < $0.until ? $0.failure : nil }
  }

  /// Whether another holder may take the lease: it has run out, its flight failed, or its holder's process has ended.
  func hasEnded(_ found: Found) -> Bool {
    guard let lease = found.lease, store.clock.now < lease.until, lease.failure == nil else { return true }
    return lease.process.map { processes.hasEnded($0) } ?? false
  }

  /// Takes or renews the lease under `key`, and returns its version; `nil` if the store does not hold what `expecting`
  /// says.
  func take(_ key: CacheKey, expecting: WriteBatch.Expectation) async throws(CacheError) -> UInt64? {
    try await write(key, until: store.clock.now.advanced(by: duration), expecting: expecting)
  }

  /// Ends the lease under `key`, if it still has the version `version`, and leaves it in the store: as one that has run out
  /// by any clock, so that a waiting process takes it over instead of believing that an answer was stored. With `failure`,
  /// the lease holds that for two seconds, for those who saw the flight under way; for everyone else it has run out. A
  /// store that hides what its entries say hides the failure too: its text is the origin's.
  ///
  /// - Returns: whether it had that version.
  func end(_ key: CacheKey, version: UInt64, _ failure: CacheError?) async throws(CacheError) -> Bool {
    let until =
      failure == nil ? Timestamp(milliseconds: 0) : store.clock.now.advanced(by: Self.failureDuration)
    return try await write(key, until: until, failure: failure, expecting: .checksum(version)) != nil
  }

  /// Removes the lease under `key`, if it still has the version `version`, and returns whether it had.
  func release(_ key: CacheKey, version: UInt64) async throws(CacheError) -> Bool {
    var batch = WriteBatch()
    batch.remove(key, ifStill: version)
    return try await tryToApply(batch)
  }

  private func write(
    _ key: CacheKey, until: Timestamp, failure: CacheError? = nil, expecting: WriteBatch.Expectation
  ) async throws(CacheError) -> UInt64? {
    let lease = Lease(process: processes.current, until: until, failure: failure)
    // The holder of a flight that is under way stays readable: processes without the key wait for it too.
    var (payload, metadata) = try store.transforms.encoded(
      [], lease.metadata(storedAt: store.clock.now), key: key, with: failure == nil ? [] : store.transforms.hiding)
    metadata.checksum = metadata.computedChecksum(key: key)
    var batch = WriteBatch()
    batch.require(key, expecting)
    batch.put(key, payload: payload, metadata: metadata)
    return try await tryToApply(batch) ? metadata.checksum : nil
  }

  /// Makes the changes of `batch`; `false` if another holder was faster.
  private func tryToApply(_ batch: WriteBatch) async throws(CacheError) -> Bool {
    do throws(CacheError) {
      try await store.engine.apply(batch)
      return true
    } catch {
      guard error.code == .conflict else { throw error }
      return false
    }
  }
}
