internal import CacheBase
internal import CacheCore
internal import EngineBenchmark
internal import EngineAPI

/// An entry that is not there, although it has been stored.
struct EntryMissing: Error {
  let key: String
}

/// A workload of reads, writes or openings, as it was traced: for an engine, or as a file for a program in C.
struct StoreWorkload {
  /// The measured operations; Floor/floor.h has the same numbers, except the last one.
  private enum Kind: UInt32 {
    case read, write, mix, open, copy
  }

  /// A workload by the name that `run` uses: a phase of a built-in workload, at the size that the tables state.
  private struct Size {
    let workload: String
    let phase: String
    let kind: Kind
    var entries = 100_000
    var operations = 200_000
    var valueSize = 100
    var keyLength = 16

    static let named: [String: Size] = [
      "fill-single": Size(workload: "fill", phase: "single", kind: .write),
      "fill-batches": Size(workload: "fill", phase: "batches", kind: .write),
      "fill-pages": Size(
        workload: "fill", phase: "batches", kind: .write, entries: 10_000, valueSize: 12_000, keyLength: 40),
      "read-small": Size(workload: "read", phase: "read", kind: .read),
      "read-pages": Size(
        workload: "read", phase: "read", kind: .read, entries: 10_000, valueSize: 12_000, keyLength: 40),
      "ycsb-b": Size(workload: "ycsb-b", phase: "run", kind: .mix),
      "open": Size(workload: "open", phase: "open", kind: .open, operations: 1_000),
      "copy-small": Size(workload: "fill", phase: "single", kind: .copy),
      "copy-pages": Size(
        workload: "fill", phase: "single", kind: .copy, entries: 10_000, valueSize: 12_000, keyLength: 40),
    ]
  }

  /// An operation that is ready to be done: nothing need be created while time is taken.
  private struct Step {
    let key: CacheKey
    /// The value to write, and its metadata; `nil` for a read.
    let payload: [UInt8]
    let metadata: EntryMetadata?
  }

  private let kind: Kind
  private let trace: OperationTrace
  private let size: Size
  private let steps: [Step]

  /// The workload called `name`, a `divisor`th of its size.
  init(named name: String, divisor: Int) throws {
    guard let size = Size.named[name], var workload = WorkloadCatalogue.workload(named: size.workload) else {
      throw Failed("there is no workload '\(name)'")
    }
    workload.entries = max(1, size.entries / divisor)
    workload.operations = max(1, size.operations / divisor)
    (workload.valueSize, workload.keyLength) = (size.valueSize, size.keyLength)
    let trace = try OperationTrace(workload, phase: size.phase, now: FixedClock().now)
    (kind, self.trace, self.size) = (size.kind, trace, size)
    steps = try trace.operations.map { operation in
      let key = try trace.key(operation.number)
      guard operation.version != 0 else { return Step(key: key, payload: [], metadata: nil) }
      var (payload, metadata) = trace.value(operation)
      metadata.contentType = "application/json"
      return Step(key: key, payload: payload, metadata: metadata)
    }
  }

  /// Writes all of it to the file at `path`, as Floor/floor.h reads it.
  func write(to path: String) throws {
    var bytes: [UInt8] = []
    func append(_ number: some FixedWidthInteger) { withUnsafeBytes(of: number) { bytes += $0 } }
    let metadata = trace.value(trace.operations[0]).metadata
    for time in [metadata.storedAt, metadata.freshUntil, metadata.retainUntil] { append(time.milliseconds) }
    append(kind.rawValue)
    for number in [trace.entries, steps.count, size.keyLength, size.valueSize, trace.batchSize] {
      append(UInt32(number))
    }
    for (operation, step) in zip(trace.operations, steps) {
      append(UInt32(operation.number))
      append(operation.version)
      append(step.metadata?.checksum ?? 0)
    }
    for step in steps { bytes += step.key.text.utf8 }
    for number in 0..<trace.entries { bytes += try trace.key(number).text.utf8 }
    for step in steps { bytes += step.payload }
    guard let file = fopen(path, "w"), fwrite(bytes, 1, bytes.count, file) == bytes.count, fclose(file) == 0 else {
      throw Failed("\(path) cannot be written")
    }
  }

  /// Does the workload through `any StorageEngine`, and prints its cost.
  func run(_ store: Store) async throws {
    if kind == .open {
      _ = try await openAll(store)
      var measured = Measured()
      let sum = try await openAll(store)
      measured.end()
      return measured.print(operations: steps.count, sum: sum)
    }
    if kind == .copy { return try await copyAll(store) }
    let engine = try await store.open()
    var sum = kind == .write ? 0 : try await readAll(engine)
    var measured = Measured()
    sum &+= kind == .read ? try await readAll(engine) : try await runAll(engine)
    measured.end()
    if kind != .read { sum &+= try await examineAll(engine) }
    measured.print(operations: steps.count, sum: sum)
    try await engine.close()
  }

  /// Reads each entry once, and stores a copy of it in an empty local store, unless the engine does that itself.
  private func copyAll(_ store: Store) async throws {
    let engine = try await store.open()
    let local = store.isTiered ? nil : try await store.local.open(clock: FixedClock())
    var sum: UInt64 = 0
    var measured = Measured()
    for step in steps {
      guard let local else {
        sum &+= try await read(step.key, engine)
        continue
      }
      let found = try await engine.read(step.key) { payload, metadata throws(CacheError) in
        (sum: Self.sum(payload, metadata), payload: payload.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
      }
      guard let found else { throw EntryMissing(key: step.key.text) }
      var batch = WriteBatch([.put(step.key, payload: found.payload, found.metadata)])
      batch.bounds = Store.limits.bounds
      try await local.apply(batch)
      sum &+= found.sum
    }
    measured.end()
    for engine in [engine, local].compactMap(\.self) { try await engine.close() }
    let copies = try await store.local.open(clock: FixedClock())
    sum &+= try await examineAll(copies)
    try await copies.close()
    measured.print(operations: steps.count, sum: sum)
  }

  private func readAll(_ engine: any StorageEngine) async throws -> UInt64 {
    var sum: UInt64 = 0
    for step in steps { sum &+= try await read(step.key, engine) }
    return sum
  }

  private func openAll(_ store: Store) async throws -> UInt64 {
    var sum: UInt64 = 0
    for step in steps {
      let engine = try await store.open()
      sum &+= try await read(step.key, engine)
      try await engine.close()
    }
    return sum
  }

  /// Reads and writes as the operations say.
  private func runAll(_ engine: any StorageEngine) async throws -> UInt64 {
    var (sum, pending): (UInt64, Int) = (0, 0)
    var batch = WriteBatch()
    for index in steps.indices {
      guard let metadata = steps[index].metadata else {
        sum &+= try await read(steps[index].key, engine)
        continue
      }
      batch.put(steps[index].key, payload: steps[index].payload, metadata: metadata)
      pending += 1
      if pending < trace.batchSize, index + 1 < steps.count { continue }
      try await engine.apply(batch)
      (batch, pending) = (WriteBatch(), 0)
    }
    return sum
  }

  /// A hash over all that is in the store.
  private func examineAll(_ engine: any StorageEngine) async throws -> UInt64 {
    var sum: UInt64 = 0
    for number in 0..<trace.entries {
      let key = try trace.key(number)
      let value = try await engine.read(key) { payload, metadata throws(CacheError) in
        Self.sum(payload, metadata) &+ payload.withUnsafeBufferPointer { FNV1a.hash($0) }
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

  /// All of the metadata, and of the payload the size and one byte, so that an engine that lends bytes without touching
  /// them is measured as such.
  @inline(__always)
  private static func sum(_ payload: Span<UInt8>, _ metadata: EntryMetadata) -> UInt64 {
    let times = metadata.storedAt.milliseconds &+ metadata.freshUntil.milliseconds &+ metadata.retainUntil.milliseconds
    return UInt64(payload[0]) &+ UInt64(payload.count) &+ UInt64(bitPattern: times)
      &+ metadata.payloadChecksum &+ metadata.checksum
  }
}
