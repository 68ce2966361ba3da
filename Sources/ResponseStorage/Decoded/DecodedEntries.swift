internal import StorageSPI
internal import Synchronization

/// What was decoded of the entries of one store, to be used again as long as they are the same.
///
/// Whether they are, it learns from the engine at each use: by its change count, where it has one, without reading
/// anything; else the entry is read and checked again, and only not decoded.
final class DecodedEntries: Sendable {
  /// What was kept of an entry, and the number of changes with which it was; `nil` where that was not known.
  struct Finding<Value: Sendable> {
    var kept: Decoded<Value>?
    var changeCount: UInt64?
  }

  private let counter: (any ChangeCounting)?
  private let limits: DecodedLimits
  private let table: Mutex<DecodedTable>

  /// Nothing yet, of the engine whose changes `counter` counts; `nil` where it cannot.
  init(_ counter: (any ChangeCounting)?, _ limits: DecodedLimits) {
    (self.counter, self.limits) = (counter, limits)
    table = Mutex(DecodedTable(limits))
  }

  /// The number of changes, to be asked for before an entry is read; `nil` where the engine cannot tell.
  ///
  /// - Throws: `StorageError`: what a read would report.
  func changeCount() throws(StorageError) -> UInt64? { try counter?.changeCount() }

  /// What `codec` has decoded of the entry under `key`, whose digest is `digest`.
  func find<Value: Sendable>(_ key: CacheKey, _ digest: UInt64, _ codec: CodecIdentity) -> Finding<Value> {
    let found = table.withLock { $0.use(key, digest) }
    guard let found, found.entry.codec === codec, let kept = found.entry as? Decoded<Value> else { return Finding() }
    return Finding(kept: kept, changeCount: found.changeCount)
  }

  /// Keeps what was read when the number of changes was `changeCount` or later; `nil` where that is not known.
  func keep(_ entry: DecodedEntry, changeCount: UInt64?) {
    table.withLock { $0.keep(entry, changeCount: changeCount) }
  }

  /// Forgets what was decoded of the entry under the key with the digest `digest`.
  func remove(_ digest: UInt64) {
    table.withLock { _ = $0.remove(digest) }
  }

  /// Forgets everything.
  func removeAll() { table.withLock { $0 = DecodedTable(limits) } }

  /// How many entries are kept, and how many bytes their payloads have.
  var size: (entries: Int, payloadBytes: Int) { table.withLock { ($0.count, $0.payloadBytes) } }
}
