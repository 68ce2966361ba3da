internal import CWorkload
internal import Glibc
internal import StorageSPI

/// An entry that is not there, although it has been stored.
struct EntryMissing: Error {
  let key: String
}

/// A workload of reads, writes or openings, through `any StorageEngine`.
struct StoreWorkload {
  private let load: workload
  private let store: Store
  private let operations: [operation]
  private let keys: [CacheKey]
  /// The payloads of the operations that write, in their order.
  private let payloads: [[UInt8]]

  /// The workload `load` on `store`, with all its keys and payloads.
  init(_ load: workload, _ store: Store) throws {
    guard let start = withUnsafePointer(to: load, { workload_operations($0) }) else { exit(1) }
    defer { free(start) }
    self.load = load
    self.store = store
    operations = Array(UnsafeBufferPointer(start: start, count: Int(load.operations)))
    keys = try operations.map { try Self.key($0.number, load) }
    payloads = operations.filter { $0.version != 0 }.map { Self.payload($0, load) }
  }

  /// Does the workload, and prints what `workload_print` prints.
  func run() async throws {
    switch load.kind {
    case workload_create: try await store.open().close()
    case workload_read, workload_read_held: try await runReads()
    case workload_open: try await runOpenings()
    default: try await runWrites()
    }
  }

  private func runReads() async throws {
    let engine = try await store.open()
    var sum = try await readAll(engine)
    let begin = workload_now()
    sum &+= try await readAll(engine)
    workload_print(workload_since(begin), load.operations, sum)
    try await engine.close()
  }

  private func runWrites() async throws {
    let engine = try await store.open()
    var sum: UInt64 = load.kind == workload_mix ? try await readAll(engine) : 0
    let begin = workload_now()
    sum &+= try await runAll(engine)
    let taken = workload_since(begin)
    workload_print(taken, load.operations, sum &+ (try await examineAll(engine)))
    try await engine.close()
  }

  private func runOpenings() async throws {
    _ = try await openAll()
    let begin = workload_now()
    let sum = try await openAll()
    workload_print(workload_since(begin), load.operations, sum)
  }

  private func readAll(_ engine: any StorageEngine) async throws -> UInt64 {
    var sum: UInt64 = 0
    for key in keys { sum &+= try await read(key, engine) }
    return sum
  }

  private func openAll() async throws -> UInt64 {
    var sum: UInt64 = 0
    for key in keys {
      let engine = try await store.open()
      sum &+= try await read(key, engine)
      try await engine.close()
    }
    return sum
  }

  /// Reads and writes as the operations say.
  private func runAll(_ engine: any StorageEngine) async throws -> UInt64 {
    var (sum, written, pending): (UInt64, Int, Int32) = (0, 0, 0)
    var (batch, metadata) = (WriteBatch(), Self.metadata)
    for index in operations.indices {
      let operation = operations[index]
      guard operation.version != 0 else {
        sum &+= try await read(keys[index], engine)
        continue
      }
      metadata.checksum = workload_checksum(operation.number, operation.version)
      batch.put(keys[index], payload: payloads[written], metadata: metadata)
      (written, pending) = (written + 1, pending + 1)
      if pending < load.batch, index + 1 < operations.count { continue }
      try await engine.apply(batch)
      (batch, pending) = (WriteBatch(), 0)
    }
    return sum
  }

  /// A hash over all that is in the store.
  private func examineAll(_ engine: any StorageEngine) async throws -> UInt64 {
    var sum: UInt64 = 0
    for number in 0..<UInt32(load.entries) {
      let key = try Self.key(number, load)
      let value = try await engine.read(key) { payload, metadata throws(CacheError) in
        Self.sum(payload, metadata)
          &+ payload.withUnsafeBufferPointer { workload_payload_hash($0.baseAddress, UInt64($0.count)) }
      }
      guard let value else { throw EntryMissing(key: key.text) }
      sum &+= value
    }
    return sum
  }

  @inline(__always)
  private func read(_ key: CacheKey, _ engine: any StorageEngine) async throws -> UInt64 {
    let value = try await engine.read(key) { payload, metadata throws(CacheError) in Self.sum(payload, metadata) }
    guard let value else { throw EntryMissing(key: key.text) }
    return value
  }

  @inline(__always)
  private static func sum(_ payload: Span<UInt8>, _ metadata: EntryMetadata) -> UInt64 {
    payload.withUnsafeBufferPointer { bytes in
      workload_entry_sum(
        bytes.baseAddress, UInt64(bytes.count), metadata.storedAt.milliseconds, metadata.freshUntil.milliseconds,
        metadata.retainUntil.milliseconds, metadata.checksum)
    }
  }

  private static let metadata = EntryMetadata(
    storedAt: Timestamp(milliseconds: workload_stored_at), freshUntil: Timestamp(milliseconds: workload_fresh_until),
    retainUntil: Timestamp(milliseconds: workload_retain_until), contentType: "application/json")

  private static func key(_ number: UInt32, _ load: workload) throws(CacheError) -> CacheKey {
    let size = Int(load.key_size)
    let text = withUnsafePointer(to: load) { load in
      String(unsafeUninitializedCapacity: size) { bytes in
        bytes.withMemoryRebound(to: CChar.self) { workload_write_key(load, number, $0.baseAddress) }
        return size
      }
    }
    return try CacheKey(text)
  }

  private static func payload(_ operation: operation, _ load: workload) -> [UInt8] {
    withUnsafePointer(to: load) { load in
      [UInt8](unsafeUninitializedCapacity: Int(load.pointee.payload_size)) { bytes, count in
        workload_write_payload(load, operation.number, operation.version, bytes.baseAddress)
        count = bytes.count
      }
    }
  }
}
