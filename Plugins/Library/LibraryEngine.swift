internal import CCachectlPlugin
internal import CacheBase
internal import EngineAPI
internal import EngineExport
internal import Synchronization

/// A store of an engine in a library.
///
/// Reads and changes run on the calling thread, unless the library says that they wait. Everything else runs on threads of
/// the engine's own: one for changes, one for operations that look through the store, and several for waiting reads.
///
/// `@unchecked Sendable`: the store is only passed back to the library, which by the rules of the interface accepts it on
/// any thread. Only `close` needs the store to itself.
final class LibraryEngine: StorageEngine, @unchecked Sendable {
  private let plugin: LibraryPlugin
  private let store: OpaquePointer
  /// The library can read it until the store is closed.
  private let clock: LibraryClock
  /// Every call of the library is inside, so that the store is not closed meanwhile.
  let gate = Gate()
  private let isClosed = Atomic<Bool>(false)
  private let changing = BlockingExecutor()
  private let looking = BlockingExecutor()
  private let reading: [BlockingExecutor]

  /// How many reads can wait for a disk or a network at once.
  private static let readerCount = 8

  /// The store that `plugin` has opened as `store`.
  init(_ plugin: LibraryPlugin, _ store: OpaquePointer, _ clock: LibraryClock) {
    self.plugin = plugin
    self.store = store
    self.clock = clock
    reading = plugin.engine.reads_wait == 0 ? [] : (0..<Self.readerCount).map { _ in BlockingExecutor() }
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
    reading.isEmpty ? try lend(key, body) : nil
  }

  /// Not asynchronous, so that its locals are on the stack. The result has its own memory, because a variable or a
  /// closure of the type `Output?` costs a lookup of that type's metadata, which takes longer.
  private func readInPlace<Output>(
    _ key: CacheKey, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) throws(CacheError) -> Output? {
    let memory = malloc(MemoryLayout<Output>.size + MemoryLayout<Output>.alignment)
    defer { free(memory) }
    guard let output = memory?.alignedUp(for: Output.self).assumingMemoryBound(to: Output.self) else {
      throw CacheError(.failed, "there is no memory for the result of a read")
    }
    var hasOutput = false
    do throws(CacheError) {
      _ = try lend(key.text.utf8Span.span) { payload, metadata throws(CacheError) in
        output.initialize(to: try body(payload, metadata))
        hasOutput = true
      }
    } catch {
      // The library failed after it had lent the entry.
      if hasOutput { output.deinitialize(count: 1) }
      throw error
    }
    return hasOutput ? output.move() : nil
  }

  /// Reads on a thread that can wait. The entry is copied, because copying is much faster than waiting.
  private func readCopy<Output>(
    _ key: CacheKey, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    let found = try await (reading.randomElement() ?? looking).run { [self] () throws(CacheError) in
      var found: EntryTable.Entry?
      _ = try lend(key.text.utf8Span.span) { payload, metadata in
        found = EntryTable.Entry(payload: payload.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
      }
      return found
    }
    guard let found else { return nil }
    return try body(found.payload.span, found.metadata)
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    if plugin.engine.changes_wait == 0 { return try whileOpen { () throws(CacheError) in try applyInPlace(batch) } }
    try await run(on: changing) { [self] () throws(CacheError) in try applyInPlace(batch) }
  }

  private func applyInPlace(_ batch: WriteBatch) throws(CacheError) {
    try batch.lend { batch throws(CacheError) in
      try plugin.call { _, failure in plugin.engine.apply(store, batch, failure) }
    }
  }

  /// A page of entries. That they are in order is for the conformance suite to check, but a walk through the store must come
  /// to an end. The next page of an ordered store begins after the last entry, whatever position the library gives.
  func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    try await run(on: looking) { [self] () throws(CacheError) in
      let isOrdered = plugin.declaration.capabilities.contains(.ordered)
      var copies = LentBytes()
      defer { withExtendedLifetime(copies) {} }
      var lentRequest = cachectl_scan_request(
        prefix: copies.copy(request.prefix), position: copies.copy(request.position ?? ""), limit: request.limit,
        has_payloads: request.includesPayloads ? 1 : 0, is_descending: request.isDescending ? 1 : 0)
      var page = ScanPage()
      try plugin.call { lent throws(CacheError) in
        if page.next != nil { throw .defect("continued a scan after its next position") }
        switch lent {
        case .entry(let entry):
          let found = try ScannedEntry(checking: entry, includesPayload: request.includesPayloads)
          // A removal of a namespace removes all that a scan finds in it.
          guard isOrdered ? request.contains(found.key) : found.key.text.hasPrefix(request.prefix) else {
            throw .defect("gave entry \(found.key), which was not requested")
          }
          page.entries.append(found)
        case .text(let position):
          let next = isOrdered ? page.entries.last?.key.text ?? "" : try position.checkedText("position")
          guard !next.isEmpty, next != request.position else { throw .defect("gave a next position that leads back") }
          page.next = next
        case .count: break
        }
      } function: { context, failure in
        plugin.engine.scan(
          store, &lentRequest, { LibraryCall.callback($0, $1.map { .entry($0) }) },
          { LibraryCall.callback($0, .text($1)) }, context, failure)
      }
      return page
    }
  }

  func count() async throws(CacheError) -> StoreCount {
    try await run(on: looking) { [self] () throws(CacheError) in
      var total = StoreCount()
      var storageBytes: UInt64 = 0
      try plugin.call { lent throws(CacheError) in
        guard case .count(let count) = lent else { return }
        let (entries, bytes) = (count.pointee.entries, count.pointee.payload_bytes)
        let namespace = try count.pointee.name_space.checkedText("namespace")
        // The numbers are so small that no sum of them overflows.
        guard CacheKey.isNamespace(namespace), max(entries, bytes) < 1 << 42 else {
          throw .defect("counted \(entries) entries with \(bytes) bytes in namespace \(namespace.debugDescription)")
        }
        let expiry = Timestamp(milliseconds: count.pointee.earliest_expiry)
        total[namespace] += EntryCount(entries: Int(entries), payloadBytes: Int(bytes), earliestExpiry: expiry)
      } function: { context, failure in
        plugin.engine.count(
          store, { LibraryCall.callback($0, $1.map { .count($0) }) }, context, &storageBytes, failure)
      }
      total.storageBytes = Int(clamping: storageBytes)
      return total
    }
  }

  /// The problem that the library reports, if any.
  func check() async throws(CacheError) -> [IntegrityIssue] {
    try await run(on: looking) { [self] () throws(CacheError) in
      do throws(CacheError) {
        try plugin.call { _, failure in plugin.engine.check(store, failure) }
        return []
      } catch {
        guard error.code == .damaged else { throw error }
        return [IntegrityIssue(kind: .structure, message: error.message)]
      }
    }
  }

  func compact() async throws(CacheError) {
    try await run(on: changing) { [self] () throws(CacheError) in
      try plugin.call { _, failure in plugin.engine.compact(store, failure) }
    }
  }

  func changeCount() throws(CacheError) -> UInt64? {
    try whileOpen { () throws(CacheError) in
      var number: UInt64 = 0
      return plugin.engine.change_count?(store, &number) == 1 ? number : nil
    }
  }

  func close() async throws(CacheError) {
    // From now on every call fails; the gate waits for the earlier ones.
    let wasClosed = isClosed.exchange(true, ordering: .acquiringAndReleasing)
    try await changing.run { () throws(CacheError) in
      self.gate.alone {}
      if !wasClosed { try self.closeStore() }
    }
  }

  private func closeStore() throws(CacheError) {
    try plugin.call { _, failure in plugin.engine.close(store, failure) }
  }

  /// Calls `body` on this thread, during which the store is not closed.
  @inline(__always)
  private func whileOpen<Output>(_ body: () throws(CacheError) -> Output) throws(CacheError) -> Output {
    gate.enter()
    defer { gate.leave() }
    if isClosed.load(ordering: .acquiring) { throw .storeClosed }
    return try body()
  }

  /// Runs `work` on a thread of `executor`, unless the store is closed by then.
  private func run<Output: Sendable>(
    on executor: BlockingExecutor, _ work: @escaping @Sendable () throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    try await executor.run { () throws(CacheError) in try self.whileOpen(work) }
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
    gate.enter()
    defer { gate.leave() }
    if isClosed.load(ordering: .acquiring) { throw .storeClosed }
    var isFound = false
    let error = withoutActuallyEscaping(body) { body in
      key.withUnsafeBufferPointer { key -> CacheError? in
        var read = LibraryRead(key: key, body: body)
        let error = withUnsafeMutablePointer(to: &read) { read in
          plugin.error(of: { failure in
            plugin.engine.read(store, cachectl_bytes(key), { LibraryRead.callback($0, $1) }, read, failure)
          })
        }
        isFound = read.isFound
        if let error = read.error { return plugin.named(error) }
        return error
      }
    }
    if let error { throw error }
    return isFound
  }
}

/// Copies of bytes that a library can read, until the end of this value.
private struct LentBytes: ~Copyable {
  private var blocks: [UnsafeMutableRawBufferPointer] = []
  /// The part of the last block that is not used yet.
  private var room = UnsafeMutableRawBufferPointer(start: nil, count: 0)

  deinit { for block in blocks { block.deallocate() } }

  mutating func copy(_ bytes: UnsafeRawBufferPointer) -> cachectl_bytes {
    if bytes.isEmpty { return cachectl_bytes() }
    if bytes.count > room.count {
      room = .allocate(byteCount: max(bytes.count, 1 << 16), alignment: 1)
      blocks.append(room)
    }
    let copy = UnsafeMutableRawBufferPointer(rebasing: room[..<bytes.count])
    copy.copyMemory(from: bytes)
    room = UnsafeMutableRawBufferPointer(rebasing: room[bytes.count...])
    return cachectl_bytes(UnsafeBufferPointer(copy.bindMemory(to: UInt8.self)))
  }

  mutating func copy(_ bytes: [UInt8]) -> cachectl_bytes { bytes.withUnsafeBytes { copy($0) } }

  mutating func copy(_ text: String) -> cachectl_bytes { text.utf8.span.withUnsafeBytes { copy($0) } }
}

extension WriteBatch {
  /// Lends a copy of the batch to `body`.
  fileprivate func lend(_ body: (UnsafePointer<cachectl_batch>) throws(CacheError) -> Void) throws(CacheError) {
    var copies = LentBytes()
    defer { withExtendedLifetime(copies) {} }
    var lent: [cachectl_operation] = []
    lent.reserveCapacity(operations.count)
    for operation in operations { lent.append(cachectl_operation(operation, in: &copies)) }
    try lent.withUnsafeBufferPointer { lent throws(CacheError) in
      var batch = cachectl_batch()
      batch.operations = lent.baseAddress
      batch.operation_count = lent.count
      if let bounds {
        batch.has_bounds = 1
        batch.max_entries = UInt64(clamping: bounds.maxEntries)
        batch.max_payload_bytes = UInt64(clamping: bounds.maxPayloadBytes)
        batch.exempt = copies.copy(bounds.exemptNamespace ?? "")
      }
      try body(&batch)
    }
  }
}

extension cachectl_operation {
  fileprivate init(_ operation: WriteBatch.Operation, in copies: inout LentBytes) {
    self.init()
    switch operation {
    case .put(let key, let payload, let metadata):
      kind = CACHECTL_PUT.rawValue
      set(key, metadata, in: &copies)
      entry.payload = copies.copy(payload)
    case .update(let key, let metadata, let checksum):
      kind = CACHECTL_UPDATE.rawValue
      set(key, metadata, in: &copies)
      expected = checksum
    case .remove(let key):
      kind = CACHECTL_REMOVE.rawValue
      entry.key = copies.copy(key.text)
    case .require(let key, .absent):
      kind = CACHECTL_REQUIRE_ABSENT.rawValue
      entry.key = copies.copy(key.text)
    case .require(let key, .checksum(let checksum)):
      kind = CACHECTL_REQUIRE_CHECKSUM.rawValue
      entry.key = copies.copy(key.text)
      expected = checksum
    }
  }

  private mutating func set(_ key: CacheKey, _ metadata: EntryMetadata, in copies: inout LentBytes) {
    entry = cachectl_entry(metadata)
    entry.key = copies.copy(key.text)
    entry.content_type = copies.copy(metadata.contentType)
    entry.attributes = copies.copy(metadata.encodedAttributes)
  }
}
