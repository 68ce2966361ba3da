internal import FetchVocabulary
internal import EngineAPI

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

  let engine: any StorageEngine
  let clock: any WallClock
  let transforms: TransformPipeline
  let options: LeaseOptions

  /// Takes the lease on the request of `token`, or waits while another process has it.
  ///
  /// - Returns: `leading` if this process has the lease now, or leases do not work; `finished` with the failure of
  ///   another process's request; `vanished` if another process had the lease and it is gone: that process finished and
  ///   removed it, or the store's server dropped it as expired.
  /// - Throws: `CacheError` with the code `cancelled`.
  func claim(_ token: CoalescingToken) async throws(CacheError) -> RequestCoalescer.Joined {
    do throws(CacheError) {
      let key = try Lease.key(for: token.key)
      if try await take(key, expecting: .absent, for: token) { return .leading(token) }
      var wait = LeaseWait(duration: options.duration)
      while let found = try await find(key) {
        // A failure found at the first look belongs to an earlier request.
        if wait.hasBegun, let failure = failure(found) { return .finished(.failure(failure), of: token) }
        wait.note(version: found.version)
        if wait.isOver || hasEnded(found), try await take(key, expecting: .checksum(found.version), for: token) {
          return .leading(token)
        }
        if wait.isHopeless { throw CacheError(.busy, "the lease \(key) can be neither taken over nor waited for") }
        do { try await options.sleep(wait.nextPause()) } catch { throw .cancelled }
      }
      return .vanished
    } catch {
      if Task.isCancelled { throw .cancelled }
      return .leading(token)
    }
  }

  /// Takes the lease for `token`, if the store holds what `expecting` says, and keeps renewing it from then on.
  private func take(
    _ key: CacheKey, expecting: WriteBatch.Expectation, for token: CoalescingToken
  ) async throws(CacheError) -> Bool {
    guard let taken = try await take(key, expecting: expecting) else { return false }
    let renewal = Task {
      var version = taken
      while (try? await options.sleep(options.renewal)) != nil {
        do throws(CacheError) {
          guard let renewed = try await take(key, expecting: .checksum(version)) else { return UInt64?.none }
          version = renewed
        } catch {
          if error.code == .closed { return nil }
          // The lease holds for a while yet: try again at the next renewal.
        }
      }
      return version
    }
    token.hold(key, renewal)
    return true
  }

  /// The lease under `key`, even if it has run out; `nil` if there is none.
  func find(_ key: CacheKey) async throws(CacheError) -> Found? {
    try await engine.read(key) { bytes, metadata throws(CacheError) in
      let revealed = metadata.isIntact(key: key, payload: bytes) ? try? transforms.revealed(metadata, key: key) : nil
      return Found(lease: revealed.flatMap { Lease($0) }, version: metadata.checksum)
    }
  }

  /// The failure with which the lease's request has just ended.
  private func failure(_ found: Found) -> CacheError? {
    found.lease.flatMap { clock.now < $0.until ? $0.failure : nil }
  }

  /// Whether another holder may take the lease: it has run out, its request failed, or its holder's process cannot
  /// finish it.
  private func hasEnded(_ found: Found) -> Bool {
    guard let lease = found.lease, clock.now < lease.until, lease.failure == nil else { return true }
    return lease.process.map { options.processes.cannotFinish($0) } ?? false
  }

  /// Takes or renews the lease under `key`, and returns its version; `nil` if the store does not hold what `expecting`
  /// says.
  func take(_ key: CacheKey, expecting: WriteBatch.Expectation) async throws(CacheError) -> UInt64? {
    try await write(key, until: clock.now.advanced(by: options.duration), expecting: expecting)
  }

  /// Ends the lease under `key`, if it still has the version `version`: removes it after a success, and leaves a failure
  /// in it. With `nil` the request was abandoned. Returns whether the lease was still there, or could not be reached.
  ///
  /// A response that has broken off is no failure for other processes: one of them requests it, or the rest of it.
  ///
  /// It runs in its own task, so it also works if the caller's task was cancelled. If it fails, the lease expires.
  func end(_ key: CacheKey, version: UInt64, _ result: RequestCoalescer.SharedResult?) async -> Bool {
    await Task {
      do throws(CacheError) {
        switch result {
        case .success: return try await release(key, version: version)
        case .failure(let failure) where (failure.cause as? OriginFailure)?.hasBrokenOff == true:
          return try await release(key, version: version)
        case .failure(let failure): return try await leave(key, version: version, failure)
        case nil: return try await leave(key, version: version, nil)
        }
      } catch {
        return true
      }
    }.value
  }

  /// Ends the lease under `key`, if it still has the version `version`, and leaves it in the store: as one that has run out
  /// by any clock, so that a waiting process takes it over instead of believing that a response was stored. With
  /// `failure`, the lease holds that for two seconds, for those who saw the request under way; for everyone else it has
  /// run out. A store that hides what its entries say hides the failure too: its text is the origin's.
  ///
  /// - Returns: whether it had that version.
  func leave(_ key: CacheKey, version: UInt64, _ failure: CacheError?) async throws(CacheError) -> Bool {
    let until = failure == nil ? Timestamp(milliseconds: 0) : clock.now.advanced(by: Self.failureDuration)
    return try await write(key, until: until, failure: failure, expecting: .checksum(version)) != nil
  }

  /// Removes the lease under `key`, if it still has the version `version`, and returns whether it had.
  func release(_ key: CacheKey, version: UInt64) async throws(CacheError) -> Bool {
    var batch = WriteBatch()
    batch.remove(key, ifStill: version)
    return try await tryToApply(batch)
  }

  /// Removes the leases on the requests for which `isChanged` returns `true`. A lease that cannot be listed because of
  /// damage, or because a server of the store cannot be reached, stays.
  func remove(_ isChanged: (RequestScope) -> Bool) async throws(CacheError) {
    var (batch, request) = (WriteBatch(), ScanRequest(prefix: Lease.keyPrefix))
    repeat {
      let page = try await listed(request)
      for lease in page.entries where Lease.scope(of: lease.key).map(isChanged) == true { batch.remove(lease.key) }
      request.position = page.next
    } while request.position != nil
    if !batch.operations.isEmpty { try await engine.apply(batch) }
  }

  private func listed(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    do throws(CacheError) {
      return try await engine.scan(request)
    } catch {
      guard error.isOfOneEntry || error.code == .unsupportedFormat || error.code == .unreachable else { throw error }
      return ScanPage()
    }
  }

  private func write(
    _ key: CacheKey, until: Timestamp, failure: CacheError? = nil, expecting: WriteBatch.Expectation
  ) async throws(CacheError) -> UInt64? {
    let lease = Lease(process: options.processes.current, until: until, failure: failure)
    // The holder of a request that is under way stays readable: processes without the key wait for it too.
    var (payload, metadata) = try transforms.encoded(
      [], lease.metadata(storedAt: clock.now), key: key, with: failure == nil ? [] : transforms.hiding)
    metadata.checksum = metadata.computedChecksum(key: key)
    var batch = WriteBatch()
    batch.require(key, expecting)
    batch.put(key, payload: payload, metadata: metadata)
    return try await tryToApply(batch) ? metadata.checksum : nil
  }

  /// Makes the changes of `batch`; `false` if another holder was faster.
  private func tryToApply(_ batch: WriteBatch) async throws(CacheError) -> Bool {
    do throws(CacheError) {
      try await engine.apply(batch)
      return true
    } catch {
      guard error.code == .conflict else { throw error }
      return false
    }
  }
}
