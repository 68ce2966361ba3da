internal import CCachectlPlugin
internal import StorageSPI
internal import Synchronization

/// A store that a library has opened. Every call here blocks as long as the library takes for it.
///
/// `@unchecked Sendable`: the handle is only ever given back to the library, which by the rules of the interface takes
/// it from any thread, `close` excepted; that is called once, when no other call is under way.
final class LibraryStore: @unchecked Sendable {
  let table: LibraryTable
  let handle: OpaquePointer
  private let clock: LibraryClock
  private let isClosed = Atomic<Bool>(false)

  /// Has the library open the store that `configuration` describes.
  ///
  /// - Throws: `StorageError`: what the library reports; `failed` where it reports success and gives no store.
  init(
    opening configuration: EngineConfiguration, _ table: LibraryTable, _ clock: LibraryClock
  ) throws(StorageError) {
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

  // A store that was not closed in order: nobody is left to be told of a failure.
  deinit { try? close() }

  /// Closes the store; only the first time.
  ///
  /// - Throws: `StorageError`: what the library reports.
  func close() throws(StorageError) {
    guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    try LibraryCall.make(table) { failure in table.functions.close(handle, failure) }
  }

  /// Makes the changes of `batch`.
  ///
  /// - Throws: `StorageError`: what the library reports, which has changed nothing then; `failed` where it broke a rule,
  ///   which says nothing of what became of the changes.
  func apply(_ batch: WriteBatch) throws(StorageError) {
    let batch = LibraryBatch(batch)
    do throws(StorageError) {
      try LibraryCall.make(table) { failure in
        batch.withBatch { table.functions.apply(handle, $0, failure) }
      }
    } catch {
      throw error.isDefectOfLibrary ? error.notingUnknownChanges : error
    }
  }

  /// Removes what has expired.
  func compact() throws(StorageError) {
    try LibraryCall.make(table) { failure in table.functions.compact(handle, failure) }
  }

  /// Lets go of memory, where the library can.
  func releaseMemory() { table.functions.releaseMemory?(handle) }
}
