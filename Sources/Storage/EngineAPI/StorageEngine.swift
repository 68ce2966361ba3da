// Engines read and write JSON.
@_exported public import CacheBase

/// Stores entries by key. An engine knows nothing of what they mean.
///
/// This is the whole interface between the cache and a storage engine. To be accepted, an engine must pass every check
/// of `EngineConformance`: one test of a few lines, or `cachectl backends test NAME`.
///
/// Rules for every engine:
/// - **Absent is `nil`; everything else is an error.** An engine never reports a failure as a missing entry, never
///   prints, and never ends the process.
/// - **Any bytes.** A payload has 0 bytes to at least 64 MiB of any value, and comes back exactly.
/// - **Metadata comes back exactly**, every field of it.
/// - **Expiry is up to the caller.** An engine keeps an entry at least until its `retainUntil`. After that it can drop
///   the entry, or continue to report it. The core judges by its own clock.
/// - **Reading never writes.**
/// - **Any number of tasks can call any method at once.** Each call sees all of a batch or nothing of it.
/// - A call that waits for a disk or a network waits on a thread of the engine's own (`EngineAPI` has a `BlockingExecutor`
///   for that); a call that does not wait returns without a thread hop.
public protocol StorageEngine: AnyObject, Sendable {
  /// Lends the payload and metadata under `key` to `body`, in place, for the duration of the call.
  ///
  /// - Parameters:
  ///   - key: the entry's key.
  ///   - body: called once if there is an entry. It must be short, because the engine might hold a lock or a read
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

  /// A page of entries. Each call sees one state of the store, which can change between calls. The cost grows with the
  /// page, not with the store.
  ///
  /// To continue, scan again from the position `next` of the page. Memory that the engine took for the page alone, such as
  /// the mapped pages of a file, is given back, so that a walk through a large store takes no more than one through a small
  /// one.
  ///
  /// - Throws: `CacheError`: `damaged` if an entry of the page cannot be decoded, with an `UnreadableEntry` as its
  ///   cause if the engine knows the entry and the position after it. A page of one entry must not fail because of the
  ///   entry behind it: a walk that skips a damaged entry would skip the one before it too. `unreachable` if a part of
  ///   the store is on a server that cannot be reached, which the message names; `unsupported` if the scan descends and
  ///   the engine is not `ordered`; `closed`, `ioFailed`.
  func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage

  /// How much the store holds. The cost does not grow with the number of entries, because an engine updates the count
  /// with each batch. An engine that is not `bounded` can count by a scan: the core does not call this on such an
  /// engine.
  ///
  /// - Throws: `CacheError`: what `scan` throws.
  func count() async throws(CacheError) -> StoreCount

  /// Checks the structure of the store, and that every entry can be read. The core checks checksums.
  ///
  /// - Returns: the issues; empty if the store is intact.
  /// - Throws: `CacheError` only if the check itself failed.
  func check() async throws(CacheError) -> [IntegrityIssue]

  /// Removes the entries that have expired by the engine's clock, and returns unused space to the file system.
  ///
  /// - Throws: `CacheError`: `noSpace`, `busy`, `closed`, `ioFailed`. On any error all unexpired entries are still
  ///   there.
  func compact() async throws(CacheError)

  /// Does what `read(_:_:)` does, at once, if that needs no wait for a disk or a network, nor for more than a short lock.
  /// The default always returns `nil`.
  ///
  /// The C interface uses it, which has neither a task nor a text, and so does a cache that is called from an actor, which a
  /// read should not leave.
  ///
  /// - Parameters:
  ///   - key: the bytes of a key's text, which the caller has validated.
  ///   - body: called once if there is an entry, under the same conditions as in `read(_:_:)`.
  /// - Returns: whether there is an entry; `nil` if only `read(_:_:)` can tell, and `body` was not called.
  /// - Throws: `CacheError`, as `read(_:_:)` does.
  func readNow(
    _ key: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool?

  /// A number that changes with each batch that changed something, whether this handle, another handle or another
  /// process applied it. While it stays the same, every read finds what it found before.
  ///
  /// To keep a result, get the number *before* reading. For engines with the capability `countsChanges`; the default
  /// is `nil`. A layer that changes what reads return must return `nil`.
  ///
  /// - Returns: the number, which has no other meaning; `nil` if the engine cannot tell at the moment.
  /// - Throws: `CacheError`: `closed`, and the errors of a read.
  /// - Complexity: constant, without a system call, and much cheaper than a read.
  func changeCount() throws(CacheError) -> UInt64?

  /// A mark that changes soon after others have changed the entry under `key`, but not at once. A cache in front of it
  /// can use its own copy for as long as the mark stays the same.
  ///
  /// To keep an entry, get the mark *before* reading it. For engines with the capability `followsChanges`; the default is
  /// `nil`.
  ///
  /// - Returns: `nil` while the engine does not follow the store, such as without a connection. It then tries to do so in
  ///   the background, so that a later call returns a mark.
  /// - Complexity: constant, without a system call, and much cheaper than a read.
  func changeMark(of key: CacheKey) -> ChangeMark?

  /// The engine that this one is a layer around; the default is `nil`. It replaces a cast, too.
  var wrapped: (any StorageEngine)? { get }

  /// Closes the store after the running calls have ended. Closing again does nothing; every other call fails with the
  /// code `closed` afterwards.
  func close() async throws(CacheError)
}

extension StorageEngine {
  /// `nil`: the engine is not a layer.
  public var wrapped: (any StorageEngine)? { nil }

  /// `nil`: reads can wait.
  public func readNow(
    _ key: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool? { nil }

  /// `nil`: the engine cannot tell whether anything has changed.
  public func changeCount() throws(CacheError) -> UInt64? { nil }

  /// `nil`: the engine learns of others' changes when it reads.
  public func changeMark(of key: CacheKey) -> ChangeMark? { nil }
}

/// An engine's knowledge of changes to an entry.
public struct ChangeMark: Sendable, Hashable {
  /// A number that changes when another handle or process has changed the entry, or one that the engine cannot tell from
  /// it. When the engine might have missed changes, the numbers of all keys change. It has no other meaning.
  public let number: UInt64

  /// How long ago the engine last made sure that it has missed no change.
  public let age: Duration

  /// A mark.
  public init(number: UInt64, age: Duration) {
    (self.number, self.age) = (number, age)
  }
}

extension CacheError {
  /// The error for a batch whose requirement on the entry under `key` did not hold.
  public static func conflict(on key: CacheKey) -> CacheError {
    CacheError(.conflict, "entry \(key) was changed by another writer", hint: "read it again and retry")
  }

  /// The error for a call to a closed engine.
  public static var storeClosed: CacheError { CacheError(.closed, "the store is closed") }
}
