internal import CCachectlPlugin
internal import StorageSPI
internal import Synchronization

/// A store that a library has opened. Every call blocks for as long as the library takes.
///
/// `@unchecked Sendable`: the handle is only passed back to the library, which by the rules of the interface accepts it
/// on any thread. Only `close` needs the store to itself: it is called once, when no other call is in progress.
final class LibraryStore: @unchecked Sendable {
  let table: LibraryTable
  let handle: OpaquePointer
  private let clock: LibraryClock
  private let isClosed = Atomic<Bool>(false)

  /// Makes the library open the store that `configuration` describes.
  ///
  /// - Throws: `CacheError`: the library's error; `failed` if it reports success but returns no store.
  init(
    opening configuration: EngineConfiguration, _ table: LibraryTable, _ clock: LibraryClock
  ) throws(CacheError) {
    let configuration = try LibraryConfiguration(configuration, for: table.declaration, clock)
    var handle: OpaquePointer?
    try LibraryCall.make(table) { failure in
      configuration.withConfiguration { table.engine.open($0, &handle, failure) }
    }
    guard let handle else { throw .defect("reported that it opened a store, and gave none", of: table.name) }
    self.table = table
    self.clock = clock
    self.handle = handle
  }

  // The store was not closed properly, so no caller is left to report a failure to.
  deinit { try? close() }

  /// Closes the store; calling it again does nothing.
  ///
  /// - Throws: `CacheError`: the library's error.
  func close() throws(CacheError) {
    guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    try LibraryCall.make(table) { failure in table.engine.close(handle, failure) }
  }

  /// Makes the changes of `batch`.
  ///
  /// - Throws: `CacheError`: the library's error, after which nothing has changed; `failed` if it broke a rule, after
  ///   which the changes may or may not have been made.
  func apply(_ batch: WriteBatch) throws(CacheError) {
    let batch = LibraryBatch(batch)
    try change { failure in batch.withBatch { table.engine.apply(handle, $0, failure) } }
  }

  /// Makes the changes of `batch`, and room for them by `order`. Returns how many unexpired entries were evicted.
  ///
  /// - Throws: `CacheError`, as `apply(_:)` does; `unsupported` if the library does not evict.
  func apply(_ batch: WriteBatch, evicting order: EvictionOrder) throws(CacheError) -> Int {
    guard table.evicts else { throw .notEvicting(table.name) }
    let batch = LibraryBatch(batch)
    var evicted: UInt64 = 0
    try change { failure in
      batch.withBatch { batch in
        order.text.withCString { table.engine.apply_evicting(handle, batch, $0, &evicted, failure) }
      }
    }
    return Int(clamping: evicted)
  }

  private func change(_ call: (LibraryCall.Failure) -> Int32) throws(CacheError) {
    do throws(CacheError) {
      try LibraryCall.make(table, call)
    } catch {
      throw error.isDefectOfLibrary ? error.notingUnknownChanges : error
    }
  }

  /// Adds `uses` to the entries.
  ///
  /// - Throws: `CacheError`: the library's error.
  func add(_ uses: [EntryUse]) throws(CacheError) {
    guard table.evicts else { throw .notEvicting(table.name) }
    var arena = LibraryArena()
    let lent = arena.array(of: cachectl_use(), count: uses.count)
    for (index, use) in uses.enumerated() {
      lent[index] = cachectl_use(
        key: arena.copy(use.key.text), last_used_at: use.lastUsedAt.milliseconds, count: UInt64(clamping: use.count))
    }
    try LibraryCall.make(table) { failure in
      table.engine.add_uses(handle, lent.baseAddress, lent.count, MemoryLayout<cachectl_use>.stride, failure)
    }
  }

  /// Removes expired entries.
  func compact() throws(CacheError) {
    try LibraryCall.make(table) { failure in table.engine.compact(handle, failure) }
  }

  /// Releases memory, if the library supports it.
  func releaseMemory() { table.engine.release_memory?(handle) }

  /// Whether the library follows the changes that others make to the store.
  var followsChanges: Bool {
    var number: UInt64 = 0
    var age: UInt64 = 0
    return table.engine.change_mark.map { $0(handle, cachectl_bytes(), &number, &age) >= 0 } ?? false
  }

  /// What the library knows of changes to the entry under `key`; `nil` if it knows nothing at the moment.
  func changeMark(of key: CacheKey) -> ChangeMark? {
    guard let changeMark = table.engine.change_mark else { return nil }
    var number: UInt64 = 0
    var age: UInt64 = 0
    let answer = key.text.utf8Span.span.withUnsafeBufferPointer { text in
      changeMark(handle, cachectl_bytes(data: text.baseAddress, length: text.count), &number, &age)
    }
    return answer == 1 ? ChangeMark(number: number, age: .milliseconds(Int64(clamping: age))) : nil
  }
}

/// Reading.
extension LibraryStore {
  /// Lends the entry under `key` to `body`, if there is one.
  ///
  /// This is the hot path. It is not generic, which saves looking up type metadata.
  ///
  /// - Throws: `CacheError`: what `body` throws, which takes precedence over everything else; the library's error;
  ///   `failed` if it broke a rule.
  func read(
    _ key: CacheKey, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Void
  ) throws(CacheError) {
    try key.text.utf8Span.span.withUnsafeBytes { bytes throws(CacheError) in
      var isVisited = false
      var thrown: CacheError?
      let lentKey = cachectl_bytes(data: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), length: bytes.count)
      do throws(CacheError) {
        try LibraryCall.make(.read, table) { lent, _ throws(LibraryDefect) in
          if isVisited { throw LibraryDefect("gave more than one entry for one key") }
          isVisited = true
          let entry = try LibraryEntry(lent)
          guard entry.hasKey(bytes) else { throw LibraryDefect("gave another entry than the one it was asked for") }
          let payload = try entry.payload().assumingMemoryBound(to: UInt8.self)
          let metadata = try entry.metadata()
          do throws(CacheError) { try body(payload.span, metadata) } catch { thrown = error }
        } function: { context, failure in
          table.engine.read(handle, lentKey, { LibraryCall.callback($0, .read, $1) }, context, failure)
        }
      } catch {
        throw thrown ?? error
      }
      if let thrown { throw thrown }
    }
  }

  /// A copy of the entry under `key`; `nil` if there is none. It is for libraries whose reads wait: copying is much
  /// faster than waiting.
  func copy(of key: CacheKey) throws(CacheError) -> ReadEntry? {
    var found: ReadEntry?
    try read(key) { payload, metadata in
      found = ReadEntry(payload: payload.withUnsafeBufferPointer { [UInt8]($0) }, metadata: metadata)
    }
    return found
  }

  /// Copies of the entries under `keys`, which the library reads at once.
  ///
  /// - Throws: `CacheError`: the library's error; `failed` if it broke a rule.
  func read(_ keys: [CacheKey]) throws(CacheError) -> [Result<ReadEntry?, CacheError>] {
    guard table.readsBatches else { throw .notReadingBatches(table.name) }
    var arena = LibraryArena()
    defer { withExtendedLifetime(arena) {} }
    let lentKeys = arena.array(of: cachectl_bytes(), count: keys.count)
    for (index, key) in keys.enumerated() { lentKeys[index] = arena.copy(key.text) }
    // `nil` if the library says that the entry cannot be read back.
    var found: [Result<ReadEntry?, CacheError>?] = keys.map { _ in .success(nil) }
    var isVisited = keys.map { _ in false }
    try LibraryCall.make(.readAll, table) { lent, index throws(LibraryDefect) in
      guard keys.indices.contains(index) else {
        throw LibraryDefect("gave entry \(UInt(bitPattern: index)) of the \(keys.count) that it was asked for")
      }
      if isVisited[index] { throw LibraryDefect("gave more than one entry for one key") }
      isVisited[index] = true
      found[index] = lent == nil ? nil : .success(try LibraryEntry(lent).copied(asRequestedBy: keys[index]))
    } function: { context, failure in
      table.engine.read_all(
        handle, lentKeys.baseAddress, lentKeys.count, { LibraryCall.callback($0, .readAll, $2, at: $1) }, context,
        failure)
    }
    var results: [Result<ReadEntry?, CacheError>] = []
    for (key, result) in zip(keys, found) {
      if let result { results.append(result) } else { results.append(try readAlone(key)) }
    }
    return results
  }

  /// Reads the entry under `key` on its own, after the library could not read it back with the others.
  private func readAlone(_ key: CacheKey) throws(CacheError) -> Result<ReadEntry?, CacheError> {
    do throws(CacheError) {
      return .success(try copy(of: key))
    } catch {
      guard error.isUnreadableEntry else { throw error }
      return .failure(error)
    }
  }

  /// The first `limit` entries of `range`.
  func scan(_ range: KeyRange, limit: Int) throws(CacheError) -> [EntrySummary] {
    guard limit > 0 else { return [] }
    var arena = LibraryArena()
    defer { withExtendedLifetime(arena) {} }
    var lentRange = cachectl_range(
      size: MemoryLayout<cachectl_range>.size, prefix: arena.copy(range.prefix),
      after: arena.copy(range.after?.text ?? ""), limit: limit, is_descending: range.isDescending ? 1 : 0)
    var summaries: [EntrySummary] = []
    try LibraryCall.make(.scan, table) { lent, _ throws(LibraryDefect) in
      guard summaries.count < limit else {
        throw LibraryDefect("gave more than the \(limit) entries it was asked for")
      }
      let entry = try LibraryEntry(lent)
      let key = try entry.key()
      guard range.contains(key) else { throw LibraryDefect("gave entry \(key), which it was not asked for") }
      if let last = summaries.last?.key, range.isDescending ? key >= last : key <= last {
        throw LibraryDefect("gave entry \(key) after \(last)")
      }
      summaries.append(
        EntrySummary(key: key, metadata: try entry.metadata(), payloadBytes: try entry.payloadSize()))
    } function: { context, failure in
      table.engine.scan(handle, &lentRange, { LibraryCall.callback($0, .scan, $1) }, context, failure)
    }
    return summaries
  }
}

/// Counts and checks.
extension LibraryStore {
  /// A library that reports more than this is stuck in a loop.
  private static let maximumIssues = 1 << 20
  /// A store has hundreds of slots; a library that reports this many is stuck in a loop.
  private static let maximumSlots = 1 << 22
  /// Sums may not exceed this, so that adding two of them never overflows.
  private static let maximumSum = 1 << 60

  /// How much the store holds.
  func statistics() throws(CacheError) -> StorageStatistics {
    var tally = EntryTally()
    var total = EntryTally.Count()
    var visits = 0
    var storageBytes: UInt64 = 0
    try LibraryCall.make(.statistics, table) { lent, _ throws(LibraryDefect) in
      visits += 1
      guard visits <= Self.maximumSlots else { throw LibraryDefect("counted more than \(Self.maximumSlots) slots") }
      let lent = lent?.assumingMemoryBound(to: cachectl_slot.self).pointee
      guard let lent, lent.size >= MemoryLayout<cachectl_slot>.size else {
        throw LibraryDefect("counted a slot that is none")
      }
      let slot = try EntryTally.Slot(lent)
      guard lent.entries > 0 || lent.payload_bytes == 0 else {
        throw LibraryDefect("counted payloads without entries")
      }
      let count = EntryTally.Count(
        entries: Int(clamping: min(lent.entries, UInt64(Self.maximumSum))),
        payloadBytes: Int(clamping: min(lent.payload_bytes, UInt64(Self.maximumSum))))
      total = total + count
      guard total.entries < Self.maximumSum, total.payloadBytes < Self.maximumSum else {
        throw LibraryDefect("counted more entries or bytes than there can be")
      }
      tally.add(count, to: slot)
    } function: { context, failure in
      table.engine.statistics(
        handle, { LibraryCall.callback($0, .statistics, $1) }, context, &storageBytes, failure)
    }
    guard storageBytes <= Self.maximumSum else {
      throw .defect("says that its store takes up \(storageBytes) bytes", of: table.name)
    }
    return StorageStatistics(tally: tally, storageBytes: Int(storageBytes))
  }

  /// The issues that the library finds in the store.
  func checkIntegrity() throws(CacheError) -> [IntegrityIssue] {
    var issues: [IntegrityIssue] = []
    try LibraryCall.make(.integrity, table) { lent, _ throws(LibraryDefect) in
      guard issues.count < Self.maximumIssues else {
        throw LibraryDefect("reported more than \(Self.maximumIssues) issues")
      }
      issues.append(try IntegrityIssue(lent?.assumingMemoryBound(to: cachectl_issue.self).pointee))
    } function: { context, failure in
      table.engine.check_integrity(handle, { LibraryCall.callback($0, .integrity, $1) }, context, failure)
    }
    return issues
  }
}

extension EntryTally.Slot {
  fileprivate init(_ lent: cachectl_slot) throws(LibraryDefect) {
    let namespace = try LibraryText.text(try lent.name_space.checked("namespace"), "namespace")
    guard CacheKey.isNamespace(namespace) else {
      throw LibraryDefect("counted entries of namespace \(LibraryText.cleaned(namespace).debugDescription)")
    }
    let slots = 0...(Timestamp.distantFuture.milliseconds >> EntryTally.slotBits)
    guard slots.contains(lent.fresh_slot), slots.contains(lent.retain_slot) else {
      throw LibraryDefect("counted entries at times that are out of range")
    }
    self.init(namespace: namespace, freshSlot: lent.fresh_slot, retainSlot: lent.retain_slot)
  }
}

extension IntegrityIssue {
  /// The issue that a library lends.
  ///
  /// - Throws: `LibraryDefect` if it is invalid.
  fileprivate init(_ lent: cachectl_issue?) throws(LibraryDefect) {
    guard let lent, lent.size >= MemoryLayout<cachectl_issue>.size else {
      throw LibraryDefect("reported an issue that is none")
    }
    let kind = try LibraryText.text(lent.kind, "kind of an issue")
    guard LibraryText.isCamelCase(kind) else { throw LibraryDefect("reported a kind of issue not in camel case") }
    let message = LibraryText.cleaned(try LibraryText.text(lent.message, "message of an issue"))
    guard !message.isEmpty else { throw LibraryDefect("reported an issue without a message") }
    let hasKey = lent.key.length != 0
    self.init(
      key: hasKey ? try CacheKey(lent: lent.key) : nil, kind: Kind(rawValue: kind), message: message)
  }
}
