// Engines read and write JSON.
@_exported public import Base

/// Stores entries by key. An engine knows nothing of what they mean.
///
/// This is the whole interface between the cache and a storage engine. To be accepted, an engine must pass every check
/// of `StorageConformance`: one test of a few lines, or `cachectl backends test NAME`.
///
/// Rules for every engine:
/// - **Absent is `nil`; everything else is an error.** An engine never reports a failure as a missing entry, never
///   prints, and never ends the process.
/// - **Any bytes.** A payload has 0 bytes to at least 64 MiB of any value, and comes back exactly.
/// - **Metadata comes back exactly**, every field of it.
/// - **Expiry is up to the caller.** An engine keeps an entry at least until its `retainUntil`. After that it may drop
///   the entry, or go on reporting it. The core judges by its own clock.
/// - **Reading never writes.**
/// - **Any number of tasks may call any method at once.** Each call sees a batch whole or not at all.
/// - A call that waits for a disk or a network waits on a thread of the engine's own (`EngineSupport` has a `BlockingExecutor`
///   for that); a call that does not wait returns without a thread hop.
public protocol StorageEngine: AnyObject, Sendable {
  /// Lends the payload and metadata under `key` to `body`, in place, for the duration of the call.
  ///
  /// - Parameters:
  ///   - key: the entry's key.
  ///   - body: called once if there is an entry. It must be short, because the engine may hold a lock or a read
  ///     transaction meanwhile, and it must not call the engine.
  /// - Returns: what `body` returned; `nil` if there is no entry.
  /// - Throws: `CacheError`: what `body` threw, `damaged` if the entry cannot be read back, `closed`, `ioFailed`.
  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output?

  /// Makes all the changes of `batch`, or none. On return they have the durability that the engine was opened with.
  ///
  /// - Throws: `CacheError`: `conflict` if a requirement does not hold, `overBounds` if the store would exceed the
  ///   batch's bounds, `tooLarge`, `noSpace`, `busy`, `closed`, `ioFailed`. On any error the store is unchanged.
  func apply(_ batch: WriteBatch) async throws(CacheError)

  /// The first entries of `range` in key order, without payloads; the last ones in descending order if it descends.
  ///
  /// To continue, scan again after the last key. Fewer than `limit` entries mean that there are no more. Each call sees
  /// one state of the store, which may change between calls. The cost grows with `limit`, not with the store.
  ///
  /// - Parameters:
  ///   - range: which keys to visit.
  ///   - limit: the most entries to return, 1 or more.
  /// - Throws: `CacheError`: `damaged` if an entry cannot be decoded, with an `UnreadableEntry` as its cause if the engine
  ///   knows which; `unreachable` if a part of the store is on a server that cannot be reached, which the message names;
  ///   `closed`, `ioFailed`.
  func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary]

  /// How much the store holds. The cost does not grow with the number of entries, because an engine updates the tally
  /// with each batch.
  ///
  /// - Throws: `CacheError`: what `scan` throws.
  func statistics() async throws(CacheError) -> StorageStatistics

  /// Checks the structure of the store, and that every entry can be read. The core checks checksums.
  ///
  /// - Returns: what is wrong; empty if nothing is.
  /// - Throws: `CacheError` only if the check itself failed.
  func checkIntegrity() async throws(CacheError) -> [IntegrityIssue]

  /// Removes the entries that have expired by the engine's clock, and returns unused space to the file system.
  ///
  /// - Throws: `CacheError`: `noSpace`, `busy`, `closed`, `ioFailed`. On any error all unexpired entries are still
  ///   there.
  func compact() async throws(CacheError)

  /// Releases memory that only makes reads faster, such as the mapped pages of a file. A caller that goes through a
  /// whole store calls it now and then, so that a large store takes no more memory than a small one.
  ///
  /// It changes nothing, but the next reads may take a little longer. The default does nothing.
  func releaseMemory() async

  /// This engine if it is `ChangeCounting`, else `nil`. Both defaults are provided; only an engine that wraps another
  /// one implements it.
  ///
  /// It replaces a cast: checking a conformance at run time takes longer than a read.
  var changeCounter: (any ChangeCounting)? { get }

  /// This engine if it is `Evicting`, else `nil`. Both defaults are provided; an engine that wraps another one implements it.
  var evictor: (any Evicting)? { get }

  /// This engine if it is `BatchReading`, else `nil`. Both defaults are provided; an engine that wraps another one
  /// implements it.
  var batchReader: (any BatchReading)? { get }

  /// This engine if it is `ChangeFollowing`, else `nil`. Both defaults are provided; an engine that wraps another one
  /// implements it.
  var changeFollower: (any ChangeFollowing)? { get }

  /// The engine that this one is a layer around; the default is `nil`. It replaces a cast, too.
  var wrapped: (any StorageEngine)? { get }

  /// Closes the store after the running calls have ended. Closing again does nothing; every other call fails with the
  /// code `closed` afterwards.
  func close() async throws(CacheError)
}

extension StorageEngine {
  /// `nil`: the engine is not a layer.
  public var wrapped: (any StorageEngine)? { nil }

  /// Does nothing: the engine needs everything that it keeps in memory.
  public func releaseMemory() async {}

  /// `nil`: the engine cannot tell whether anything has changed.
  public var changeCounter: (any ChangeCounting)? { nil }

  /// `nil`: the core chooses what is evicted.
  public var evictor: (any Evicting)? { nil }

  /// `nil`: entries are read one by one.
  public var batchReader: (any BatchReading)? { nil }

  /// `nil`: the engine learns of others' changes when it reads.
  public var changeFollower: (any ChangeFollowing)? { nil }
}

/// An engine that can tell cheaply whether anything in its store has changed.
///
/// This lets a reader reuse what it has already read and decoded.
public protocol ChangeCounting: StorageEngine {
  /// A number that changes with each batch that changed something, whether this handle, another handle or another
  /// process applied it. While it stays the same, every read finds what it found before.
  ///
  /// To cache a result, get the number *before* reading.
  ///
  /// - Returns: the number, which has no other meaning; `nil` if the engine cannot tell at the moment.
  /// - Throws: `CacheError`: `closed`, and the errors of a read.
  /// - Complexity: constant, without a system call, and much cheaper than a read.
  func changeCount() throws(CacheError) -> UInt64?
}

extension ChangeCounting {
  /// This engine.
  public var changeCounter: (any ChangeCounting)? { self }
}

/// An engine whose reads never wait, neither for a disk or a network nor for more than a short lock.
///
/// It makes reads through a C interface cheap (see `StoragePluginExport`): they need neither a task nor a key text. All
/// other callers use `read(_:_:)`.
public protocol ImmediateReading: StorageEngine {
  /// Does what `read(_:_:)` does, synchronously. It is not generic, which saves looking up type metadata.
  ///
  /// - Parameters:
  /// - keyBytes: the bytes of a key's text, which the caller has validated.
  ///   - body: called once if there is an entry, under the same conditions as in `read(_:_:)`.
  /// - Returns: whether there is an entry.
  /// - Throws: `CacheError`, as `read(_:_:)` does.
  func readNow(
    keyBytes: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool
}

extension CacheError {
  /// The error for a batch whose requirement on the entry under `key` did not hold.
  public static func conflict(on key: CacheKey) -> CacheError {
    CacheError(.conflict, "entry \(key) was changed by another writer", hint: "read it again and retry")
  }

  /// The error for a call to a closed engine.
  public static var storeClosed: CacheError { CacheError(.closed, "the store is closed") }
}
