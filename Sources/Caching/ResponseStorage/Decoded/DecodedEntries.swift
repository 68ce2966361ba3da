internal import StorageSPI
internal import Synchronization

/// The decoded values of a store's entries, reused as long as the entries stay the same.
///
/// Each use checks that with the engine. If the engine has a change count, the check reads nothing; otherwise the entry
/// is read and verified again, but not decoded.
final class DecodedEntries: Sendable {
  /// A value kept for an entry, and the change count at which it was kept; `nil` if that was unknown.
  struct Finding<Value: Sendable> {
    var kept: Decoded<Value>?
    var changeCount: UInt64?
  }

  private let counter: (any ChangeCounting)?
  private let limits: DecodedLimits
  private let table: Mutex<DecodedTable>

  /// Creates an empty cache for the engine whose changes `counter` counts; `nil` if it cannot count them.
  init(_ counter: (any ChangeCounting)?, _ limits: DecodedLimits) {
    (self.counter, self.limits) = (counter, limits)
    table = Mutex(DecodedTable(limits))
  }

  /// The engine's change count, to be read before an entry is read; `nil` if the engine has none.
  ///
  /// - Throws: `CacheError`: the same as a read.
  func changeCount() throws(CacheError) -> UInt64? { try counter?.changeCount() }

  /// Finds the value that `codec` decoded from the entry under `key`, whose digest is `digest`.
  func find<Value: Sendable>(_ key: CacheKey, _ digest: UInt64, _ codec: CodecIdentity) -> Finding<Value> {
    let found = table.withLock { $0.use(key, digest) }
    guard let found, found.entry.codec === codec, let kept = found.entry as? Decoded<Value> else { return Finding() }
    return Finding(kept: kept, changeCount: found.changeCount)
  }

  /// Keeps a decoded entry that was read at the change count `changeCount` or later; `nil` if unknown.
  func keep(_ entry: DecodedEntry, changeCount: UInt64?) {
    table.withLock { $0.keep(entry, changeCount: changeCount) }
  }

  /// Forgets the decoded entry under the key with the digest `digest`.
  func remove(_ digest: UInt64) {
    table.withLock { _ = $0.remove(digest) }
  }

  /// Forgets all decoded entries.
  func removeAll() { table.withLock { $0 = DecodedTable(limits) } }

  /// The number of entries kept, and the total size of their payloads in bytes.
  var size: (entries: Int, payloadBytes: Int) { table.withLock { ($0.count, $0.payloadBytes) } }
}
