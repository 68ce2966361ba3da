internal import EngineAPI

/// The right to make a request, stored for other processes to see: an entry without a payload, retained as long as the
/// lease holds. Its attributes hold the rest.
struct Lease: Sendable {
  /// The namespace of leases, and of nothing else. Listings of a store leave it out.
  static let namespace = "leases"
  /// The prefix of every lease's key.
  static let keyPrefix = namespace + "/"

  /// The name of the process that holds it (`ProcessTable`); `nil` if it has none.
  let process: String?
  /// From this time on, other processes can take the lease over.
  let until: Timestamp
  /// Distinguishes this version of the lease from all others, even of the same millisecond: a holder must not take the
  /// lease of another one for its own.
  var number = UInt64.random(in: 0 ... .max)
  /// The failure with which the request ended, for those who saw it under way; `nil` if it is under way or was
  /// abandoned.
  var failure: CacheError?

  /// The key of the lease for `request`, which is the key of the entry that it fetches, and more after a space. The
  /// lease is in the group of the entry. After the comma follow the namespace of the entry with the part after the
  /// space, encoded, and the rest of the entry's key unchanged: it can be long, and have many percent codes.
  static func key(for request: String) throws(CacheError) -> CacheKey {
    let entry = request.utf8.prefix { $0 != UInt8(ascii: " ") }
    let namespace = entry.prefix { $0 != UInt8(ascii: "/") }
    let name = entry.dropFirst(namespace.count + 1)
    let group = name.prefix { $0 != UInt8(ascii: ",") }
    let party = request.utf8.dropFirst(entry.count)
    let owner = PercentEncoding.text("\(Substring(namespace))\(Substring(party))")
    return try CacheKey("\(keyPrefix)\(Substring(group)),\(owner)\(Substring(name.dropFirst(group.count)))")
  }

  /// The entries that the request might store whose lease is under `key`; `nil` if that is not a lease on a request.
  static func scope(of key: CacheKey) -> RequestScope? {
    let name = key.text.utf8.dropFirst(keyPrefix.utf8.count + key.group.count)
    guard key.isLease, !name.isEmpty else { return nil }
    let owner = name.dropFirst().prefix { $0 != UInt8(ascii: ",") }
    let text = String(decoding: PercentEncoding.decoded(Substring(owner)), as: UTF8.self)
    let namespace = text.utf8.prefix { $0 != UInt8(ascii: " ") }
    return RequestScope(
      "\(Substring(namespace))/\(Substring(key.group))\(Substring(name.dropFirst(1 + owner.count)))")
  }
}

extension Lease {
  /// The names of the attributes.
  private enum Name {
    static let process = "process"
    static let number = "number"
    static let code = "code"
    static let message = "message"
    static let hint = "hint"
  }

  /// Reads the lease from an entry's metadata; `nil` if that is not a lease's.
  init?(_ metadata: EntryMetadata) {
    let attributes = metadata.attributes
    guard let number = attributes[Name.number].flatMap({ UInt64($0) }) else { return nil }
    self.init(
      process: attributes[Name.process], until: metadata.retainUntil, number: number,
      failure: Self.failure(attributes))
  }

  /// The metadata of the lease's entry, stored at `now`, without a checksum.
  func metadata(storedAt now: Timestamp) -> EntryMetadata {
    var attributes = [Name.number: String(number)]
    attributes[Name.process] = process
    if let failure {
      attributes[Name.code] = failure.code.rawValue
      attributes[Name.message] = failure.message
      attributes[Name.hint] = failure.hint
    }
    return EntryMetadata(
      storedAt: now, freshUntil: until, retainUntil: until, contentType: "text/plain", attributes: attributes)
  }

  private static func failure(_ attributes: [String: String]) -> CacheError? {
    guard let code = attributes[Name.code], let message = attributes[Name.message] else { return nil }
    return CacheError(CacheError.Code(rawValue: code), message, hint: attributes[Name.hint] ?? "")
  }
}

/// How a process takes leases, and waits for those of others.
public struct LeaseOptions: Sendable {
  /// How long a lease holds without a renewal; more than zero. The holder renews it three times in that time. If a
  /// holder disappears in a way that other processes cannot detect, they wait this long.
  public let duration: Duration
  /// Names this process in its leases, and tells which others have ended.
  public let processes: any ProcessTable
  /// How long a caller waits for a request that the same process makes; `nil` for as long as it takes. A request that waits
  /// for itself in a way that cannot be seen ends after that.
  public let maximumWait: Duration?
  /// Waits for a duration. Throws as soon as its task is cancelled.
  public let sleep: @Sendable (Duration) async throws -> Void

  /// Creates options; by default a lease holds for thirty seconds, and callers in one process wait for five minutes.
  public init(
    duration: Duration = .seconds(30), processes: any ProcessTable = SystemProcessTable(),
    maximumWait: Duration? = .seconds(300),
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.duration = duration
    self.processes = processes
    self.maximumWait = maximumWait
    self.sleep = sleep
  }

  /// How often a lease is renewed.
  var renewal: Duration { duration / 3 }
}

extension CacheKey {
  var isLease: Bool { namespaceLength == Lease.namespace.utf8.count && text.hasPrefix(Lease.keyPrefix) }
}

/// The leases in a store, as one process reads and changes them. Every change is a compare and swap: if several processes
/// try to take a lease at the same time, exactly one gets it.
struct LeaseTable: Sendable {
  /// How long a failure stays readable for waiting processes.
  static let failureDuration = Duration.seconds(2)
  /// The pauses between looks at the lease of another process: each is twice as long as the one before.
  private static let firstPause = Duration.milliseconds(5)
  private static let longestPause = Duration.milliseconds(250)

  /// A lease in the store, `nil` if the entry cannot be read as one; and the version of the entry, which changes with each
  /// renewal.
  typealias Found = (lease: Lease?, version: UInt64)

  let engine: any StorageEngine
  let clock: any WallClock
  let transforms: TransformPipeline
  let options: LeaseOptions
  /// The versions of leases that this process could not end, for example on a full disk. It need not wait until they run out.
  private let leftBehind = TaskMonitor(Set<UInt64>())

  /// Takes the lease on the request of `token`, or waits while another process has it.
  ///
  /// - Returns: `leading` if this process has the lease now, or leases do not work; `finished` with the failure of
  ///   another process's request, or with `busy` if another cache of this process has held the lease for too long;
  ///   `vanished` if another process had the lease and it is gone: that process finished and removed it, or the store's
  ///   server dropped it as expired.
  /// - Throws: `CacheError` with the code `cancelled`.
  func claim(_ token: CoalescingToken) async throws(CacheError) -> RequestCoalescer.Joined {
    do throws(CacheError) {
      let key = try Lease.key(for: token.key)
      if try await take(key, expecting: .absent, for: token) { return .leading(token) }
      var (pause, waited) = (Self.firstPause, Duration.zero)
      var version: UInt64?
      // Its holder renews a lease several times before it runs out. One that has not changed for its whole duration has no
      // holder, even if by this machine's clock it holds for hours: the clocks differ, or one was set.
      var unchanged = Duration.zero
      while let found = try await find(key) {
        // A failure found at the first look belongs to an earlier request.
        if version != nil, let failure = failure(found) { return .finished(.failure(failure), of: token) }
        if found.version != version { unchanged = .zero }
        version = found.version
        let isOver =
          unchanged >= options.duration || hasEnded(found) || leftBehind.withLock { $0.contains(found.version) }
        if isOver, try await take(key, expecting: .checksum(found.version), for: token) {
          leftBehind.withLock { _ = $0.remove(found.version) }
          return .leading(token)
        }
        guard unchanged < options.duration * 2 else {
          throw CacheError(.busy, "the lease \(key) can be neither taken over nor waited for")
        }
        if let limit = options.maximumWait, waited >= limit, let process = options.processes.current,
          found.lease?.process == process
        {
          return .finished(.failure(.overdue(token.key)), of: token)
        }
        do { try await options.sleep(pause) } catch { throw .cancelled }
        waited += pause
        unchanged += pause
        pause = min(pause * 2, Self.longestPause)
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
    let renewal = LeaseRenewal(taken) { [options] in
      try await options.sleep(options.renewal)
    } renew: { version in
      do throws(CacheError) {
        return try await take(key, expecting: .checksum(version))
      } catch {
        // The lease holds for a while yet: try again at the next renewal.
        return error.code == .closed ? nil : version
      }
    }
    token.hold(key, renewal, Task { await renewal.run() })
    return true
  }

  /// The lease under `key`, even if it has run out; `nil` if there is none.
  func find(_ key: CacheKey) async throws(CacheError) -> Found? {
    try await engine.read(key) { bytes, metadata throws(CacheError) -> Found in
      let revealed = metadata.isIntact(key: key, payload: bytes) ? try? transforms.revealed(metadata, key: key) : nil
      return (revealed.flatMap { Lease($0) }, metadata.checksum)
    }
  }

  /// The failure with which the lease's request has just ended.
  private func failure(_ found: Found) -> CacheError? {
    found.lease.flatMap { clock.now < $0.until ? $0.failure : nil }
  }

  /// Whether another holder can take the lease: it has run out, its request failed, or its holder's process cannot
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
  /// A response that has broken off is not a failure for other processes: one of them requests it, or the rest of it.
  ///
  /// It runs in its own task, so it also works if the caller's task was cancelled. If it fails, the lease expires.
  func end(_ key: CacheKey, version: UInt64, _ result: RequestCoalescer.SharedResult?) async -> Bool {
    await Task {
      do throws(CacheError) {
        switch result {
        case nil: return try await leave(key, version: version, nil)
        case .failure(let failure) where (failure.cause as? OriginFailure)?.hasBrokenOff != true:
          return try await leave(key, version: version, failure)
        default: return try await release(key, version: version)
        }
      } catch {
        leftBehind.withLock { _ = $0.insert(version) }
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
    return try await engine.apply(batch, unless: [.conflict])
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
    return try await engine.apply(batch, unless: [.conflict]) ? metadata.checksum : nil
  }
}
