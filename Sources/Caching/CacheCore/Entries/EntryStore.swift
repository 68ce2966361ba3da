public import EngineAPI

/// An engine, with what the core adds to every entry: absolute times, and checksums that are computed on each write and
/// verified on each read. No write exceeds the store's limits, if it has any.
///
/// A store whose engine is not `bounded` has its own limits, and evicts what it chooses. It is never counted except by
/// a walk on demand, nothing is evicted from it or removed with a write, and no uses of its entries are recorded.
public struct EntryStore: Sendable {
  let engine: any StorageEngine

  /// The engine's tiers; `nil` if it has none.
  package var tiered: TieredEngine? { engine.tiered }

  /// The clock that decides whether entries are fresh, stale or expired.
  public let clock: any WallClock

  /// How the store is used.
  public let uses: StoreUse

  /// The decoded values; `nil` if none are kept.
  let decodedEntries: DecodedEntries?

  /// Coalesces the requests whose responses this store keeps.
  public let coalescer: RequestCoalescer

  /// The transforms with which entries are written. It can also read entries written with others.
  let transforms: TransformPipeline

  /// `nil` if the engine is not `bounded`.
  private let writer: BoundedWriter?

  /// Whether the engine is `bounded`: whether the limits of the cache apply to its store.
  public var isBounded: Bool { writer != nil }

  /// Whether the engine lists keys in order, each once, and from any key on.
  public let isOrdered: Bool

  /// Whether the engine drops expired entries by itself.
  let isExpiring: Bool

  /// Creates a store over `engine`.
  ///
  /// - Parameters:
  ///   - limits: how much it can hold; `nil` for no limits.
  ///   - uses: records how it is used, for eviction.
  ///   - capabilities: those of the engine. If it is not `bounded`, `limits` do not apply; if it is not `expiring`, writes
  ///     also remove a few expired entries.
  ///   - decoded: how many decoded values to keep in memory.
  ///   - transforms: what entries are written with, such as compression. Entries written with others stay readable.
  ///   - leases: how to coalesce requests with those of other processes that use the store; `nil` to coalesce those of this
  ///     process alone.
  ///   - wholeLook: a store of up to so many entries is looked at whole to choose evictions; `nil` for the usual number.
  public init(
    engine: any StorageEngine, clock: any WallClock, limits: StoreLimits? = nil,
    uses: StoreUse = StoreUse(), capabilities: Set<EngineCapability> = [.ordered, .bounded],
    decoded: DecodedLimits = .standard, transforms: EntryTransforms = .none, leases: LeaseOptions? = nil,
    wholeLook: Int? = nil
  ) {
    self.engine = engine
    self.clock = clock
    self.uses = uses
    self.transforms = TransformPipeline(transforms)
    coalescer = RequestCoalescer(
      LeaseTable(engine: engine, clock: clock, transforms: self.transforms, options: leases ?? LeaseOptions()),
      takesLeases: leases != nil)
    decodedEntries = decoded.maxEntries > 0 ? DecodedEntries(decoded) : nil
    isOrdered = capabilities.contains(.ordered)
    isExpiring = capabilities.contains(.expiring)
    writer =
      capabilities.contains(.bounded)
      ? BoundedWriter(
        engine: engine, clock: clock, limits: limits, uses: uses, isOrdered: isOrdered,
        removesExpired: !isExpiring, wholeLook: wholeLook ?? BoundedWriter.wholeLook) : nil
  }

  /// The value that `decode` makes from the entry under `key`, with its metadata; `nil` if there is none, or an expired
  /// one.
  ///
  /// - Throws: `CacheError`: what `decode` throws; `damaged` if the entry is not intact; `wrongKey` if it is
  ///   sealed with another key; `notSealed` if it lacks a required transform; `unsupported` if a transform that it was
  ///   written with is not set up.
  public func read<Value: Sendable>(
    _ key: CacheKey, _ decode: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Value
  ) async throws(CacheError) -> (value: Value, metadata: EntryMetadata)? {
    try await read(key, byMetadata: { _ in nil }, decode)
  }

  /// Does the same, unless `byMetadata` can make the value from the metadata alone: then transforms are not undone. It gets
  /// the metadata as stored, of which a transform can hide attributes.
  func read<Value: Sendable>(
    _ key: CacheKey, byMetadata: @Sendable (EntryMetadata) -> Value?,
    _ decode: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Value
  ) async throws(CacheError) -> (value: Value, metadata: EntryMetadata)? {
    let now = clock.now
    let found = try await engine.read(key) {
      [transforms] bytes, metadata throws(CacheError) -> (value: Value, metadata: EntryMetadata)? in
      let isPlain = try metadata.verify(key: key, payload: bytes)
      if metadata.state(at: now) == .expired { return nil }
      if let value = byMetadata(metadata) { return (value, metadata) }
      if isPlain, transforms.servesPlain { return (try decode(bytes, metadata), metadata) }
      let opened = try transforms.opened(bytes, metadata, key: key)
      return (try decode(opened.payload.span, opened.metadata), opened.metadata)
    }
    return found ?? nil
  }

  /// The metadata under `key`, even if the entry has expired, without a look at its payload; `nil` if there is none. If a
  /// transform hides attributes from this process, they are missing.
  ///
  /// - Throws: `CacheError`: the engine failed, or the metadata is not intact (`damaged`).
  func metadata(_ key: CacheKey) async throws(CacheError) -> EntryMetadata? {
    try await engine.read(key) { [transforms] _, stored throws(CacheError) in
      try stored.verifyMetadata(key: key)
      do throws(CacheError) { return try transforms.revealed(stored, key: key) } catch {
        guard error.isOfOneEntry else { throw error }
        return stored
      }
    }
  }

  /// Counts a lookup: a hit, and a use of the entry under `key`; with `nil`, a miss.
  public func countLookUp(_ key: CacheKey?) { countLookUp(digest: key.map { AccessRecord.digest(of: $0) }) }

  /// Counts a lookup in the same way, by the digest of the key.
  func countLookUp(digest: UInt64?) { uses.countLookUp(digest, at: clock.now) }

  /// Stores an entry together with the changes of `batch`, if the present entry is as expected. If there is no room, it
  /// evicts other entries. The transforms of the store change its payload; limits count the result.
  ///
  /// - Parameters:
  ///   - key: the entry's key.
  ///   - payload: the entry's bytes.
  ///   - metadata: the entry's metadata; the checksum is computed here.
  ///   - expecting: what the store must hold under the key; `nil` for anything.
  ///   - batch: further changes; all are made, or none.
  ///   - token: the request that fetched the entry; `nil` if there is none.
  ///   - endsLease: whether the same commit removes the lease of that request.
  /// - Throws: `CacheError` with the code of the engine's failure, `conflict` if the request is outdated or its lease is
  ///   lost, `tooLarge` if the entry alone exceeds the store's
  ///   limits, `overBounds` if no other entry can be evicted, `busy` if other writers keep filling the store; then
  ///   nothing has changed.
  public func write(
    _ key: CacheKey, payload: [UInt8], metadata: EntryMetadata, expecting: WriteBatch.Expectation? = nil,
    with batch: WriteBatch = WriteBatch(), token: CoalescingToken? = nil, endsLease: Bool = true
  ) async throws(CacheError) {
    var batch = batch
    if let expecting { batch.require(key, expecting) }
    let bytes = try put(key, payload, metadata, into: &batch)
    try await commit(batch, storing: key, bytes: bytes, token, endsLease: endsLease)
  }

  /// Stores several entries in one commit: all of them, or none.
  ///
  /// - Throws: `CacheError` as `write(_:payload:metadata:expecting:with:token:endsLease:)`; `tooLarge` if the entries
  ///   together exceed the limits.
  package func write(
    _ entries: [(key: CacheKey, payload: [UInt8], metadata: EntryMetadata)]
  ) async throws(CacheError) {
    guard let first = entries.first else { return }
    var batch = WriteBatch()
    var bytes = 0
    for entry in entries { bytes += try put(entry.key, entry.payload, entry.metadata, into: &batch) }
    try await apply(batch, storing: first.key, bytes: bytes)
  }

  /// Adds the storing of an entry to `batch`, and returns how many bytes its payload then has.
  @discardableResult
  func put(
    _ key: CacheKey, _ payload: [UInt8], _ metadata: EntryMetadata, into batch: inout WriteBatch
  ) throws(CacheError) -> Int {
    var entry = try transforms.encoded(payload, metadata, key: key, with: transforms.transforms.written)
    entry.metadata.checksum = entry.metadata.computedChecksum(key: key)
    batch.put(key, payload: entry.payload, metadata: entry.metadata)
    return entry.payload.count
  }

  /// Gives an entry new metadata, together with the changes of `batch`. Its payload is not touched: it is neither encoded
  /// nor transformed, hashed or written again.
  ///
  /// - Parameters:
  ///   - key: the entry's key.
  ///   - version: the checksum that the entry must have; with `nil`, nothing is done.
  ///   - batch, token, endsLease: as for `write`.
  ///   - renewed: makes the new metadata from the present one, of which a transform can hide attributes.
  /// - Returns: `false` if the entry must be written whole, and nothing has changed: it cannot be read, or would be
  ///   written with other transforms now.
  /// - Throws: `CacheError`: as `write`; `conflict` if the entry has another version or
  ///   is gone.
  func renew(
    _ key: CacheKey, from version: UInt64?, with batch: WriteBatch = WriteBatch(), token: CoalescingToken? = nil,
    endsLease: Bool = true, _ renewed: @Sendable (EntryMetadata) -> EntryMetadata
  ) async throws(CacheError) -> Bool {
    guard let version else { return false }
    typealias Found = (metadata: EntryMetadata?, bytes: Int)
    let found = try await ifReadable { () async throws(CacheError) -> Found? in
      let found = try await engine.read(key) { [transforms] bytes, stored throws(CacheError) -> Found in
        guard stored.checksum == version else { throw .conflict(on: key) }
        try stored.verifyMetadata(key: key)
        return (try transforms.renewed(stored, as: renewed(stored), key: key), bytes.count)
      }
      if let found { return found }
      throw .conflict(on: key)
    }
    guard let found, let metadata = found.metadata else { return false }
    var batch = batch
    batch.update(key, metadata: metadata, from: version)
    try await commit(batch, storing: key, bytes: found.bytes, token, endsLease: endsLease)
    return true
  }

  /// Makes the changes of `batch`, which leaves `bytes` bytes under `key`, if the request of `token` is not outdated.
  private func commit(
    _ batch: WriteBatch, storing key: CacheKey, bytes: Int, _ token: CoalescingToken?, endsLease: Bool
  ) async throws(CacheError) {
    guard let token else { return try await apply(batch, storing: key, bytes: bytes) }
    try await token.storing { () throws(CacheError) in
      var batch = batch
      if let lease = await token.endRenewal() {
        guard let version = lease.version else { throw .conflict(on: key) }
        batch.require(lease.key, .checksum(version))
        if endsLease { batch.remove(lease.key) }
      }
      try await apply(batch, storing: key, bytes: bytes)
      if endsLease { token.forgetLease() }
    }
  }

  private func apply(_ batch: WriteBatch, storing key: CacheKey, bytes: Int) async throws(CacheError) {
    guard let writer else { return try await engine.apply(batch) }
    try await writer.apply(batch, storing: key, bytes: bytes)
  }

  /// Evicts entries until the store is within its limits: an import exceeds them, and so does a store after the limits were
  /// lowered.
  ///
  /// - Parameter progress: called with how many entries were evicted, and how many must be in all, as far as their number
  ///   exceeds the limit.
  /// - Returns: how many unexpired entries were evicted.
  /// - Throws: `CacheError`: `overBounds` if the policy lets too few entries be evicted, `cancelled`, or the engine's failure.
  @discardableResult
  public func makeRoom(progress: TransferProgress = { _, _ in }) async throws(CacheError) -> Int {
    let before = uses.counts.evictions
    var total: Int?
    try await writer?.makeRoom { left in
      if total == nil { total = left }
      if let total, total > 0 { progress(total - left, total) }
    }
    return uses.counts.evictions - before
  }
}

/// The result of `read`; `nil` if the entry cannot be read.
///
/// - Throws: `CacheError`: any other failure of `read`.
func ifReadable<Output>(_ read: () async throws(CacheError) -> Output?) async throws(CacheError) -> Output? {
  do throws(CacheError) { return try await read() } catch {
    guard error.isOfOneEntry else { throw error }
    return nil
  }
}

extension Timestamp {
  /// The time since 1970-01-01T00:00:00Z, as the domain uses it.
  public var sinceEpoch: Duration { .milliseconds(milliseconds) }
}
