internal import CCachectlPlugin
internal import EngineSupport
internal import StorageSPI
internal import Synchronization

/// A store of an engine in a library.
///
/// Reads run on the calling thread, unless the library says that they wait. Everything else runs on threads of the
/// engine's own: one for changes, one for operations that look through the store, and several for waiting reads.
///
/// `@unchecked Sendable`: the store is only passed back to the library, which by the rules of the interface accepts it on
/// any thread. Only `close` needs the store to itself.
final class LibraryEngine: StorageEngine, @unchecked Sendable {
  let table: LibraryTable
  let store: OpaquePointer
  private let clock: LibraryClock
  /// The calls on threads that are not the engine's own are inside.
  private let gate = Gate()
  private let isClosed = Atomic<Bool>(false)
  private let changing = BlockingExecutor()
  private let looking = BlockingExecutor()
  private let reading: [BlockingExecutor]
  private let nextReader = Atomic<UInt>(0)

  /// How many reads can wait for a disk or a network at once.
  private static let readerCount = 8

  /// Makes the library open the store that `configuration` describes. Blocks for as long as that takes.
  ///
  /// - Throws: `CacheError`: the library's error; `failed` if it reports success but returns no store.
  init(opening configuration: EngineConfiguration, _ table: LibraryTable) throws(CacheError) {
    let arena = LibraryArena()
    let clock = LibraryClock(configuration.clock)
    let lent = try arena.configuration(configuration, for: table.declaration, clock)
    var store: OpaquePointer?
    try LibraryCall.make(table) { _, failure in table.engine.open(lent, &store, failure) }
    withExtendedLifetime(arena) {}
    guard let store else { throw .defect(LibraryDefect("opened a store, and gave none"), of: table.name) }
    self.table = table
    self.store = store
    self.clock = clock
    reading = table.readsWait ? (0..<Self.readerCount).map { _ in BlockingExecutor() } : []
  }

  // The store was not closed properly, so no caller is left to report a failure to.
  deinit { if !isClosed.load(ordering: .acquiring) { try? closeStore() } }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    if reading.isEmpty { return try readInPlace(key, body) }
    let turn = nextReader.add(1, ordering: .relaxed).oldValue
    let executor = reading[Int(turn % UInt(reading.count))]
    let found = try await run(on: executor) { () throws(CacheError) in try self.copy(of: key) }
    guard let found else { return nil }
    return try body(found.payload.span, found.metadata)
  }

  func readNow(
    _ key: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool? {
    if !reading.isEmpty { return nil }
    gate.enter()
    defer { gate.leave() }
    try requireOpen()
    return try lend(key, body)
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    try await run(on: changing) { () throws(CacheError) in try self.applyNow(batch) }
  }

  func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    try await run(on: looking) { () throws(CacheError) in try self.scanNow(request) }
  }

  func count() async throws(CacheError) -> StoreCount {
    try await run(on: looking) { () throws(CacheError) in try self.countNow() }
  }

  func check() async throws(CacheError) -> [IntegrityIssue] {
    try await run(on: looking) { () throws(CacheError) in try self.checkNow() }
  }

  func compact() async throws(CacheError) {
    try await run(on: changing) { () throws(CacheError) in
      try LibraryCall.make(self.table) { _, failure in self.table.engine.compact(self.store, failure) }
    }
  }

  func changeCount() throws(CacheError) -> UInt64? {
    gate.enter()
    defer { gate.leave() }
    try requireOpen()
    var number: UInt64 = 0
    return table.engine.change_count?(store, &number) == 1 ? number : nil
  }

  func changeMark(of key: CacheKey) -> ChangeMark? {
    gate.enter()
    defer { gate.leave() }
    guard let changeMark = table.engine.change_mark, !isClosed.load(ordering: .acquiring) else { return nil }
    var number: UInt64 = 0
    var age: UInt64 = 0
    let result = key.text.utf8Span.span.withUnsafeBufferPointer { text in
      changeMark(store, cachectl_bytes(data: text.baseAddress, length: text.count), &number, &age)
    }
    return result == 1 ? ChangeMark(number: number, age: .milliseconds(Int64(clamping: age))) : nil
  }

  func close() async throws(CacheError) {
    let wasClosed = isClosed.exchange(true, ordering: .acquiringAndReleasing)
    // From now on every call fails; these end the earlier ones.
    for executor in reading + [looking] { try await executor.run { () throws(CacheError) in } }
    try await changing.run { () throws(CacheError) in
      self.gate.alone {}
      if !wasClosed { try self.closeStore() }
    }
  }

  private func closeStore() throws(CacheError) {
    try LibraryCall.make(table) { _, failure in table.engine.close(store, failure) }
  }

  private func requireOpen() throws(CacheError) {
    if isClosed.load(ordering: .acquiring) { throw .storeClosed }
  }

  /// Not asynchronous, so that its locals are on the stack.
  private func readInPlace<Output>(
    _ key: CacheKey, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) throws(CacheError) -> Output? {
    var output: Output?
    _ = try readNow(key.text.utf8Span.span) { payload, metadata throws(CacheError) in
      output = try body(payload, metadata)
    }
    return output
  }

  /// Runs `work` on a thread of `executor`, unless the store is closed by then.
  private func run<Output: Sendable>(
    on executor: BlockingExecutor, _ work: @escaping @Sendable () throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    try requireOpen()
    return try await executor.run { () throws(CacheError) in
      try self.requireOpen()
      return try work()
    }
  }
}
