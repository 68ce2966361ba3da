internal import CCachectlPlugin
internal import EngineAPI
internal import CacheBase
internal import EngineExport
internal import Synchronization

/// A store of an engine in a library.
///
/// Reads run on the calling thread, unless the library says that they wait. Everything else runs on threads of the
/// engine's own: one for changes, one for operations that look through the store, and several for waiting reads.
///
/// `@unchecked Sendable`: the store is only passed back to the library, which by the rules of the interface accepts it on
/// any thread. Only `close` needs the store to itself.
final class LibraryEngine: StorageEngine, @unchecked Sendable {
  private let table: LibraryTable
  private let store: OpaquePointer
  /// Kept for its clock, which the library can read until the store is closed.
  private let configuration: LibraryConfiguration
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
  init(opening configuration: LibraryConfiguration, _ table: LibraryTable) throws(CacheError) {
    var store: OpaquePointer?
    try table.call { _, failure in table.engine.open(configuration.pointer, &store, failure) }
    guard let store else { throw table.named(.defect("opened a store, and gave none")) }
    self.table = table
    self.store = store
    self.configuration = configuration
    reading = table.engine.reads_wait == 0 ? [] : (0..<Self.readerCount).map { _ in BlockingExecutor() }
  }

  // The store was not closed properly, so no caller is left to report a failure to.
  deinit { if !isClosed.load(ordering: .acquiring) { try? closeStore() } }

  @inline(__always)
  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    if reading.isEmpty { return try readInPlace(key, body) }
    return try await readCopy(key, body)
  }

  func readNow(
    _ key: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool? {
    if !reading.isEmpty { return nil }
    return try whileOpen { () throws(CacheError) in try lend(key, body) }
  }

  /// Not asynchronous, so that its locals are on the stack. The result has memory of its own, because a variable or a closure
  /// of the type `Output?` costs a lookup of that type's metadata, which takes longer.
  private func readInPlace<Output>(
    _ key: CacheKey, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) throws(CacheError) -> Output? {
    let memory = malloc(MemoryLayout<Output>.size + MemoryLayout<Output>.alignment)
    guard let output = memory?.alignedUp(for: Output.self).assumingMemoryBound(to: Output.self) else {
      throw CacheError(.failed, "there is no memory for what was read")
    }
    var hasOutput = false
    defer {
      if hasOutput { output.deinitialize(count: 1) }
      free(memory)
    }
    _ = try readNow(key.text.utf8Span.span) { payload, metadata throws(CacheError) in
      output.initialize(to: try body(payload, metadata))
      hasOutput = true
    }
    return hasOutput ? output.pointee : nil
  }

  /// Reads on a thread that may wait. The entry is copied, because copying is much faster than waiting.
  private func readCopy<Output>(
    _ key: CacheKey, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    let turn = nextReader.add(1, ordering: .relaxed).oldValue
    let found = try await run(on: reading[Int(turn % UInt(reading.count))]) { () throws(CacheError) in
      var found: EntryTable.Entry?
      _ = try self.lend(key.text.utf8Span.span) { payload, metadata in
        found = EntryTable.Entry(payload: payload.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
      }
      return found
    }
    guard let found else { return nil }
    return try body(found.payload.span, found.metadata)
  }

  /// Makes the changes of `batch`.
  ///
  /// - Throws: `CacheError`: the library's error, after which nothing has changed; `failed` if it broke a rule, after
  ///   which the changes may or may not have been made.
  func apply(_ batch: WriteBatch) async throws(CacheError) {
    try await run(on: changing) { [self] () throws(CacheError) in
      do throws(CacheError) {
        try batch.lend { batch throws(CacheError) in
          try table.call { _, failure in table.engine.apply(store, batch, failure) }
        }
      } catch {
        guard error.cause is InterfaceDefect else { throw error }
        throw CacheError(
          error.code, "\(error.message); whether the changes were made is not known",
          hint: "look at the entries before you try again; \(error.hint)", cause: error.cause)
      }
    }
  }

  func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    try await run(on: looking) { () throws(CacheError) in try self.page(request) }
  }

  func count() async throws(CacheError) -> StoreCount {
    try await run(on: looking) { [self] () throws(CacheError) in
      var storageBytes: UInt64 = 0
      let counts = try table.gather(.count, limit: 1 << 16, EntryCount.named) { context, failure in
        table.engine.count(store, { LibraryCall.callback($0, .count, $1) }, context, &storageBytes, failure)
      }
      guard storageBytes < 1 << 62 else {
        throw table.named(.defect("says that its store takes up \(storageBytes) bytes"))
      }
      return StoreCount(namespaces: Dictionary(counts, uniquingKeysWith: +), storageBytes: Int(storageBytes))
    }
  }

  func check() async throws(CacheError) -> [IntegrityIssue] {
    try await run(on: looking) { [self] () throws(CacheError) in
      // A library that reports more than this is stuck in a loop.
      try table.gather(.issue, limit: 1 << 18, IntegrityIssue.init(checking:)) { context, failure in
        table.engine.check(store, { LibraryCall.callback($0, .issue, $1) }, context, failure)
      }
    }
  }

  func compact() async throws(CacheError) {
    try await run(on: changing) { [self] () throws(CacheError) in
      try table.call { _, failure in table.engine.compact(store, failure) }
    }
  }

  func changeCount() throws(CacheError) -> UInt64? {
    try whileOpen { () throws(CacheError) in
      var number: UInt64 = 0
      return table.engine.change_count?(store, &number) == 1 ? number : nil
    }
  }

  func changeMark(of key: CacheKey) -> ChangeMark? {
    try? whileOpen { () throws(CacheError) in
      var number: UInt64 = 0
      var age: UInt64 = 0
      let result = key.text.utf8Span.span.withUnsafeBufferPointer { key in
        table.engine.change_mark?(store, cachectl_bytes(key), &number, &age)
      }
      return result == 1 ? ChangeMark(number: number, age: .milliseconds(Int64(clamping: age))) : nil
    }
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
    try table.call { _, failure in table.engine.close(store, failure) }
  }

  private func requireOpen() throws(CacheError) {
    if isClosed.load(ordering: .acquiring) { throw .storeClosed }
  }

  /// Calls `body` on this thread, during which the store is not closed.
  @inline(__always)
  private func whileOpen<Output>(_ body: () throws(CacheError) -> Output) throws(CacheError) -> Output {
    gate.enter()
    defer { gate.leave() }
    try requireOpen()
    return try body()
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

  /// Lends the entry under `key` to `body`, if there is one, and returns whether there is.
  ///
  /// This is the hot path. It is not generic, which saves looking up type metadata.
  ///
  /// - Throws: `CacheError`: the error of `body`, which takes precedence over everything else; the library's error;
  ///   `failed` if it broke a rule.
  private func lend(
    _ key: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool {
    try key.withUnsafeBufferPointer { key throws(CacheError) in
      var isFound = false
      try table.call { kind, lent throws(CacheError) in
        guard kind == .entry else { throw .strayCallback }
        if isFound { throw .defect("gave more than one entry for one key") }
        isFound = true
        let entry = lent.assumingMemoryBound(to: cachectl_entry.self)
        let own = entry.pointee.key
        guard own.length == key.count, let data = own.data, let requested = key.baseAddress,
          memcmp(data, requested, key.count) == 0
        else { throw .defect("gave another entry than the requested one") }
        try body(try entry.pointee.payload.checked("payload").span, try EntryMetadata(checking: entry.pointee))
      } function: { context, failure in
        table.engine.read(
          store, cachectl_bytes(key), { LibraryCall.callback($0, .entry, $1) }, context, failure)
      }
      return isFound
    }
  }

  /// A page of entries. That they are in order is for the conformance suite to check, but a walk through the store must come
  /// to an end.
  private func page(_ request: ScanRequest) throws(CacheError) -> ScanPage {
    let copies = LentBytes()
    defer { withExtendedLifetime(copies) {} }
    var lentRequest = cachectl_scan_request(
      prefix: copies.copy(request.prefix), position: copies.copy(request.position ?? ""), limit: request.limit,
      has_payloads: request.includesPayloads ? 1 : 0, is_descending: request.isDescending ? 1 : 0)
    let isOrdered = table.declaration.capabilities.contains(.ordered)
    var page = ScanPage()
    try table.call { kind, lent throws(CacheError) in
      if page.next != nil { throw .defect("continued a scan after its next position") }
      switch kind {
      case .text:
        let position = lent.assumingMemoryBound(to: cachectl_bytes.self).pointee
        let next = try LibraryText.line(try position.text("position"), "position")
        guard next != request.position else { throw .defect("gave the position of the request as the next one") }
        let passed = isOrdered ? [request.position, page.entries.last?.key.text].compactMap { $0 } : []
        guard !passed.contains(where: { request.isDescending ? next > $0 : next < $0 }) else {
          throw .defect("gave a next position that leads back")
        }
        page.next = next
      case .scannedEntry:
        let entry = lent.assumingMemoryBound(to: cachectl_entry.self).pointee
        guard page.entries.count < request.limit else {
          throw .defect("gave more than the \(request.limit) requested entries")
        }
        let found = try ScannedEntry(checking: entry, includesPayload: request.includesPayloads)
        // A removal of a namespace removes all that a scan finds in it.
        guard found.key.text.hasPrefix(request.prefix) else {
          throw .defect("gave entry \(found.key), which was not requested")
        }
        page.entries.append(found)
      default: throw .strayCallback
      }
    } function: { context, failure in
      table.engine.scan(
        store, &lentRequest, { LibraryCall.callback($0, .scannedEntry, $1) },
        { LibraryCall.callback($0, .text, $1) }, context, failure)
    }
    return page
  }
}
