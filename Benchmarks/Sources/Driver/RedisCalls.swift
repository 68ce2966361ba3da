internal import StorageSPI

/// Calls of the Redis engine, whose cost to the server is measured from outside (`Floor/redis`).
///
/// All of them are about entries of 100 bytes under keys of 16 characters.
struct RedisCalls {
  enum Kind: String {
    /// Stores 100,000 entries, a thousand in each batch.
    case fill = "redis-fill"
    /// Reads entries, one after another.
    case hit = "redis-hit"
    /// Reads entries by fifty tasks at once.
    case hits = "redis-hits"
    /// Stores entries, each in a batch of its own.
    case put = "redis-put"
    /// The same in a batch that also ends a lease, which must be there.
    case leasedPut = "redis-leased-put"
    /// Puts a lease where none is.
    case lease = "redis-lease"
  }

  private static let (entries, tasks) = (100_000, 50)

  private let engine: any StorageEngine
  private let operations: Int

  /// Does what `kind` says, and prints its cost.
  static func run(_ kind: Kind, _ store: Store, divisor: Int) async throws {
    let calls = RedisCalls(engine: try await store.open(), operations: entries / divisor)
    try await calls.run(kind)
    try await calls.engine.close()
  }

  /// As a task calls that is on no actor.
  @concurrent
  private func run(_ kind: Kind) async throws {
    let keys = try (0..<operations).map { try Self.key($0) }
    let (leases, lease) = (try (0..<operations).map { try Self.lease($0) }, Self.metadata(checksum: 1))
    let (payload, metadata) = ([UInt8](repeating: 7, count: 100), Self.metadata(checksum: 2))
    if kind == .leasedPut {
      try await inBatches { batch, number in batch.put(leases[number], payload: [], metadata: lease) }
    }
    var measured = Measured()
    switch kind {
    case .fill: try await inBatches { batch, number in batch.put(keys[number], payload: payload, metadata: metadata) }
    case .hit: try await read(keys)
    case .hits:
      try await withThrowingTaskGroup(of: Void.self) { group in
        for part in 0..<Self.tasks {
          let own = stride(from: part, to: operations, by: Self.tasks).map { keys[$0] }
          group.addTask { try await read(own) }
        }
        try await group.waitForAll()
      }
    case .put:
      for key in keys { try await engine.apply(WriteBatch([.put(key, payload: payload, metadata)])) }
    case .leasedPut:
      for (key, held) in zip(keys, leases) {
        try await engine.apply(
          WriteBatch([
            .require(held, .checksum(lease.checksum)), .put(key, payload: payload, metadata), .remove(held),
          ]))
      }
    case .lease:
      for key in leases {
        try await engine.apply(WriteBatch([.require(key, .absent), .put(key, payload: [], lease)]))
      }
    }
    measured.end()
    measured.print(operations: operations, sum: 0)
  }

  private func read(_ keys: [CacheKey]) async throws {
    for key in keys {
      let isThere = try await engine.read(key) { payload, _ throws(CacheError) in payload.count == 100 }
      guard isThere == true else { throw EntryMissing(key: key.text) }
    }
  }

  private func inBatches(_ add: (inout WriteBatch, Int) -> Void) async throws {
    for start in stride(from: 0, to: operations, by: 1_000) {
      var batch = WriteBatch()
      for number in start..<min(start + 1_000, operations) { add(&batch, number) }
      try await engine.apply(batch)
    }
  }

  private static func key(_ number: Int) throws -> CacheKey { try CacheKey("values/\(padded(number))") }

  private static func lease(_ number: Int) throws -> CacheKey { try CacheKey("leases/\(padded(number)),values") }

  private static func padded(_ number: Int) -> String { "\(1_000_000_000 + number)" }

  private static func metadata(checksum: UInt64) -> EntryMetadata {
    var metadata = EntryMetadata(
      storedAt: FixedClock().now, freshUntil: .distantFuture, retainUntil: .distantFuture,
      contentType: "application/json")
    (metadata.checksum, metadata.payloadChecksum) = (checksum, checksum)
    return metadata
  }
}
