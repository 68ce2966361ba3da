internal import EngineAPI
internal import Synchronization

/// A handle on an LMDB store. Reads run on the calling thread; commits that wait for the disk run on a thread of their
/// own.
final class LMDBEngine: StorageEngine {
  /// The environment, until the handle is closed. Running calls keep it open until they end.
  private let environment: Mutex<LMDBEnvironmentUse?>
  private let gate: LMDBGate
  private let readers = ResourcePool<LMDBReader>()
  private let durability: Durability
  private let clock: any WallClock

  init(_ use: LMDBEnvironmentUse, durability: Durability, clock: any WallClock) {
    self.environment = Mutex(use)
    self.gate = use.environment.gate
    self.durability = durability
    self.clock = clock
    use.environment.snapshots.add(readers)
  }

  @inline(__always)
  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    try readAtOnce(key, { reader throws(CacheError) in try reader.begin(reading: key) }, body)
  }

  func readNow(
    _ key: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool? {
    let namespaceLength = CacheKey.namespaceLength(in: key)
    let found: Void? = try readAtOnce(
      CacheKey(trusting: key),
      { reader throws(CacheError) in
        try key.withUnsafeBytes { key throws(CacheError) in
          try reader.begin(reading: key, namespaceLength: namespaceLength)
        }
      }, body)
    return found != nil
  }

  /// Separate from `read`, because generic code costs an asynchronous function an allocation. It has no closures that
  /// return an `Output`, because they cost a lookup of the metadata of `Output?`.
  ///
  /// - Parameters:
  ///   - key: the key, for an error.
  ///   - begin: begins the read.
  @inline(never)
  private func readAtOnce<Output>(
    _ key: @autoclosure () -> CacheKey, _ begin: (LMDBReader) throws(CacheError) -> EncodedEntry?,
    _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) throws(CacheError) -> Output? {
    gate.enter()
    defer { gate.leave() }
    let reader = try takeReader()
    do throws(CacheError) {
      let found = reader._withUnsafeGuaranteedRef { reader in
        Result { () throws(CacheError) in try begin(reader) }
      }
      guard let found = try found.get() else {
        readers.giveBack(reader)
        return nil
      }
      guard let metadata = found.metadata() else { throw .unreadable(key()) }
      let output = try body(found.payload.span, metadata)
      reader._withUnsafeGuaranteedRef { $0.end() }
      readers.giveBack(reader)
      return output
    } catch {
      reader.release()  // Which ends its transaction.
      throw error
    }
  }

  func changeCount() throws(CacheError) -> UInt64? {
    let use = try openEnvironment()
    gate.enter()
    defer { gate.leave() }
    return use.environment.changeCount
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    let durability = durability
    if batch.operations.isEmpty && batch.bounds == nil {
      _ = try openEnvironment()
      return
    }
    if durability == .relaxed {
      let use = try openEnvironment()
      defer { withExtendedLifetime(use) {} }
      return try use.environment.apply(batch, durability)
    }
    try await run(on: \.writing) { environment throws(CacheError) in try environment.apply(batch, durability) }
  }

  func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    let use = try openEnvironment()
    defer { withExtendedLifetime(use) {} }
    return try ScanPage(request) { page throws(CacheError) in
      gate.enter()
      defer { gate.leave() }
      let reader = try takeReader().takeRetainedValue()
      try reader.withDatabases { transaction, databases throws(CacheError) in
        var scan = LMDBScan(page, transaction)
        defer {
          scan.releaseMappedPages()
          page = scan.page
        }
        try scan.visit(databases)
      }
      readers.giveBack(.passRetained(reader))
    }
  }

  func count() async throws(CacheError) -> StoreCount {
    try await run(on: \.checking) { environment throws(CacheError) in try environment.count() }
  }

  func check() async throws(CacheError) -> [IntegrityIssue] {
    try await run(on: \.checking) { environment throws(CacheError) in try environment.integrityIssues() }
  }

  func compact() async throws(CacheError) {
    let durability = durability
    let now = clock.now
    try await run(on: \.writing) { environment throws(CacheError) in
      try environment.compact(at: now, durability)
    }
  }

  func close() async throws(CacheError) {
    gate.enter()
    readers.close()
    gate.leave()
    _ = environment.withLock { $0.take() }
  }

  @inline(__always)
  private func takeReader() throws(CacheError) -> Unmanaged<LMDBReader> {
    try readers.take { () throws(CacheError) in try LMDBReader(try openEnvironment().environment) }
  }

  /// Runs `work` on one of the environment's own threads. The call keeps the environment open, not the thread, which lets go
  /// of its work later: a caller that closes the store afterwards really closes it.
  private func run<Output: Sendable>(
    on executor: (LMDBEnvironment) -> BlockingExecutor,
    _ work: @escaping @Sendable (LMDBEnvironment) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    let use = try openEnvironment()
    defer { withExtendedLifetime(use) {} }
    return try await executor(use.environment).run {
      [unowned(unsafe) environment = use.environment] () throws(CacheError) in
      try work(environment)
    }
  }

  private func openEnvironment() throws(CacheError) -> LMDBEnvironmentUse {
    guard let use = environment.withLock({ $0 }) else { throw .storeClosed }
    return use
  }
}
