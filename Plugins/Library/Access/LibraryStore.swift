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
      configuration.withConfiguration { table.functions.open($0, &handle, failure) }
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
    try LibraryCall.make(table) { failure in table.functions.close(handle, failure) }
  }

  /// Makes the changes of `batch`.
  ///
  /// - Throws: `CacheError`: the library's error, after which nothing has changed; `failed` if it broke a rule, after
  ///   which the changes may or may not have been made.
  func apply(_ batch: WriteBatch) throws(CacheError) {
    let batch = LibraryBatch(batch)
    try change { failure in
      batch.withBatch { table.functions.apply(handle, $0, failure) }
    }
  }

  /// Makes the changes of `batch`, and room for them by `order`. Returns how many unexpired entries were evicted.
  ///
  /// - Throws: `CacheError`, as `apply(_:)` does; `unsupported` if the library does not evict.
  func apply(_ batch: WriteBatch, evicting order: EvictionOrder) throws(CacheError) -> Int {
    guard let eviction = table.functions.eviction else { throw .notEvicting(table.name) }
    let batch = LibraryBatch(batch)
    var evicted: UInt64 = 0
    try change { failure in
      batch.withBatch { batch in order.text.withCString { eviction.apply(handle, batch, $0, &evicted, failure) } }
    }
    return Int(clamping: evicted)
  }

  /// Adds `uses` to the entries.
  ///
  /// - Throws: `CacheError`: the library's error.
  func add(_ uses: [EntryUse]) throws(CacheError) {
    guard let eviction = table.functions.eviction else { throw .notEvicting(table.name) }
    var arena = LibraryArena()
    let lent = arena.array(of: cachectl_use(), count: uses.count)
    for (index, use) in uses.enumerated() {
      lent[index] = cachectl_use(
        key: arena.copy(use.key.text), last_used_at: use.lastUsedAt.milliseconds, count: UInt64(clamping: use.count))
    }
    try LibraryCall.make(table) { failure in
      eviction.addUses(handle, lent.baseAddress, lent.count, MemoryLayout<cachectl_use>.stride, failure)
    }
  }

  private func change(_ call: (LibraryFunctions.Failure) -> Int32) throws(CacheError) {
    do throws(CacheError) {
      try LibraryCall.make(table, call)
    } catch {
      throw error.isDefectOfLibrary ? error.notingUnknownChanges : error
    }
  }

  /// Removes expired entries.
  func compact() throws(CacheError) {
    try LibraryCall.make(table) { failure in table.functions.compact(handle, failure) }
  }

  /// Releases memory, if the library supports it.
  func releaseMemory() { table.functions.releaseMemory?(handle) }
}
