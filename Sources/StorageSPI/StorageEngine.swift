/// Stores entries by key. It knows nothing of what they mean.
///
/// This is the whole interface between the cache and a storage engine. An engine passes when every check of
/// `StorageConformance` passes over it: one test of a few lines, or `cachectl backends test NAME`.
///
/// Rules for every engine:
/// - **Absent is `nil`; everything else is an error.** An engine never reports a failure as a missing entry, never
///   prints, and never ends the process.
/// - **Any bytes.** A payload is 0 bytes to at least 64 MiB of any value, and comes back exactly.
/// - **Metadata comes back exactly**, every field of it.
/// - **Expiry is the caller's business.** An engine keeps an entry at least until its `retainUntil`. It may drop it
///   after that; until it does, it may go on to report it. The core judges by its own clock.
/// - **Reading never writes.**
/// - **Every method may be called by any number of tasks at once.** Calls see each batch whole or not at all.
/// - A call that has to wait for a disk or a network waits on a thread of the engine's own (see `BlockingExecutor`); a
///   call that does not wait returns without a hop to another thread.
public protocol StorageEngine: AnyObject, Sendable {
  /// Lends the payload and metadata under `key` to `body`, in place, for the length of the call.
  ///
  /// - Parameters:
  ///   - key: the entry's key.
  ///   - body: called once if there is an entry. It must be short: an engine may hold a lock or a read transaction
  ///     meanwhile. It must not call the engine.
  /// - Returns: what `body` returned; `nil` if there is no entry.
  /// - Throws: `StorageError`: what `body` threw, `damaged` where the entry cannot be read back, `closed`, `ioFailed`.
  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(StorageError) -> Output
  ) async throws(StorageError) -> Output?

  /// Makes all the changes of `batch`, or none. On return they are as durable as the engine was opened to make them.
  ///
  /// - Throws: `StorageError`: `conflict` where a requirement did not hold, `overBounds` where the store would exceed
  ///   the batch's bounds, `tooLarge`, `noSpace`, `busy`, `closed`, `ioFailed`. In every case the store is as it was
  ///   before.
  func apply(_ batch: WriteBatch) async throws(StorageError)

  /// The first entries of `range` in the order of their keys, without payloads.
  ///
  /// To go on, scan again after the last key. Fewer than `limit` entries mean that there are no more. Each call sees
  /// one state of the store; between two calls it may change. The cost grows with `limit`, not with the store.
  ///
  /// - Parameters:
  ///   - range: which keys to visit.
  ///   - limit: how many entries to return at most, 1 or more.
  /// - Throws: `StorageError`: `damaged` where an entry cannot be decoded, `closed`, `ioFailed`.
  func scan(_ range: KeyRange, limit: Int) async throws(StorageError) -> [EntrySummary]

  /// How much the store holds. The cost does not grow with the number of entries: an engine keeps the tally up to date
  /// with each batch.
  func statistics() async throws(StorageError) -> StorageStatistics

  /// Checks the structure of the store and that every entry can be read. Checksums are the core's to check.
  ///
  /// - Returns: what is wrong; empty where nothing is.
  /// - Throws: `StorageError` only where the check itself could not be made.
  func checkIntegrity() async throws(StorageError) -> [IntegrityIssue]

  /// Removes the entries that have expired by the engine's clock, and gives unused space back to the file system.
  ///
  /// - Throws: `StorageError`: `noSpace`, `busy`, `closed`, `ioFailed`; then all entries are still there that had not
  ///   expired.
  func compact() async throws(StorageError)

  /// Takes out of the memory of the process what was read only to be quick, such as the mapped pages of a file. Whoever
  /// goes through a whole store calls it now and then, so that a large store takes no more memory than a small one.
  ///
  /// It changes nothing, and what is read next may take a little longer. By default it does nothing.
  func releaseMemory() async

  /// This engine where it is `ChangeCounting`, else `nil`. Both are given: an engine has nothing to say here, unless it
  /// stands in front of another one.
  ///
  /// It is asked for instead of a cast: to look for a conformance at run time takes a process longer than a read.
  var changeCounter: (any ChangeCounting)? { get }

  /// Closes the store after the calls under way have ended. Closing twice does nothing; every other call afterwards
  /// fails with the code `closed`.
  func close() async throws(StorageError)
}

extension StorageEngine {
  /// Does nothing: all that the engine keeps in memory it needs.
  public func releaseMemory() async {}

  /// Nothing: the engine cannot tell whether anything has changed.
  public var changeCounter: (any ChangeCounting)? { nil }
}
