internal import EngineAPI

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
    /// Stores entries, each in its own batch.
    case put = "redis-put"
    /// The same in a batch that also ends a lease, which must be there.
    case leasedPut = "redis-leased-put"
    /// Fills 16 hash slots of a cluster, so that they are as full as those of a cluster with a billion entries.
    case slots = "redis-slots"
    /// Reads the entries of these slots by fifty tasks.
    case slotHits = "redis-slot-hits"
    /// Stores 100,000 more entries in these slots.
    case slotPut = "redis-slot-put"
    /// Reads the metadata of all entries, page by page.
    case list = "redis-list"
    /// The same with the payloads.
    case export = "redis-export"
  }

  private static let (entries, tasks) = (100_000, 50)
  private static let (slots, slotEntries) = (16, 1_000_000_000 / 16_384)

  private let engine: any StorageEngine
  private let operations: Int

  /// Does what `kind` says, and prints its cost.
  static func run(_ kind: Kind, _ store: Store, divisor: Int) async throws {
    let isOfSlots = kind == .slots || kind == .slotHits
    let calls = RedisCalls(
      engine: try await store.open(), operations: (isOfSlots ? slots * slotEntries : entries) / divisor)
    try await calls.run(kind)
    try await calls.engine.close()
  }

  /// As a task calls that is on no actor.
  @concurrent
  private func run(_ kind: Kind) async throws {
    var operations = operations
    let keys = try (0..<operations).map { number in
      switch kind {
      case .slots, .slotHits: try Self.slotKey(number)
      case .slotPut: try Self.slotKey(number + Self.slots * Self.slotEntries)
      default: try Self.key(number)
      }
    }
    let (leases, lease) = (try (0..<operations).map { try Self.lease($0) }, Self.metadata(checksum: 1))
    let (payload, metadata) = ([UInt8](repeating: 7, count: 100), Self.metadata(checksum: 2))
    if kind == .leasedPut {
      try await inBatches { batch, number in batch.put(leases[number], payload: [], metadata: lease) }
    }
    var measured = Measured()
    switch kind {
    case .fill, .slots:
      try await inBatches { batch, number in batch.put(keys[number], payload: payload, metadata: metadata) }
    case .hit: try await read(keys)
    case .hits, .slotHits:
      try await withThrowingTaskGroup(of: Void.self) { group in
        for part in 0..<Self.tasks {
          let own = stride(from: part, to: operations, by: Self.tasks).map { keys[$0] }
          group.addTask { try await read(own) }
        }
        try await group.waitForAll()
      }
    case .put, .slotPut:
      for key in keys { try await engine.apply(WriteBatch([.put(key, payload: payload, metadata)])) }
    case .leasedPut:
      for (key, held) in zip(keys, leases) {
        try await engine.apply(
          WriteBatch([
            .require(held, .checksum(lease.checksum)), .put(key, payload: payload, metadata), .remove(held),
          ]))
      }
    case .list: operations = try await list(includesPayloads: false)
    case .export: operations = try await list(includesPayloads: true)
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

  /// Returns how many entries there are.
  private func list(includesPayloads: Bool) async throws -> Int {
    var request = ScanRequest(includesPayloads: includesPayloads)
    var count = 0
    repeat {
      let page = try await engine.scan(request)
      count += page.entries.count
      request.position = page.next
    } while request.position != nil
    return count
  }

  private func inBatches(_ add: (inout WriteBatch, Int) -> Void) async throws {
    for start in stride(from: 0, to: operations, by: 1_000) {
      var batch = WriteBatch()
      for number in start..<min(start + 1_000, operations) { add(&batch, number) }
      try await engine.apply(batch)
    }
  }

  private static func key(_ number: Int) throws -> CacheKey { try CacheKey("values/\(padded(number))") }

  /// The keys of one group share a slot.
  private static func slotKey(_ number: Int) throws -> CacheKey {
    try CacheKey("values/t\(number % slots),\(padded(number))")
  }

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
