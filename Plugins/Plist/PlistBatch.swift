internal import EngineSupport
internal import StorageSPI
internal import Synchronization

extension WriteBatch {
  /// Splits the batch by namespace, in name order, with operations in their original order. The parts have no bounds,
  /// because bounds apply to all namespaces together.
  func dividedByNamespace() -> [(namespace: String, batch: WriteBatch)] {
    var parts: [String: WriteBatch] = [:]
    for operation in operations {
      switch operation {
      case .put(let key, let payload, let metadata):
        parts[key.namespace, default: WriteBatch()].put(key, payload: payload, metadata: metadata)
      case .remove(let key): parts[key.namespace, default: WriteBatch()].remove(key)
      case .require(let key, let expectation):
        parts[key.namespace, default: WriteBatch()].require(key, expectation)
      }
    }
    return parts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

/// A batch on its way into the files, and why it failed.
final class PlistWrite: Sendable {
  let batch: WriteBatch
  /// `nil` before the write, and if it succeeded.
  let failure = Mutex<CacheError?>(nil)

  init(_ batch: WriteBatch) { self.batch = batch }

  /// Runs `body`, and keeps its error as the failure.
  func attempt(_ body: () throws(CacheError) -> Void) {
    do throws(CacheError) { try body() } catch { failure.withLock { $0 = error } }
  }
}

/// The changes of several batches, by namespace, before they are written.
struct PlistChanges {
  /// The namespaces that the batches name, also those that stay as they are.
  private var tables: [String: PlistCommit.Change] = [:]
  private var changed: Set<String> = []

  /// The file changes that the batches make, in the order of the namespaces.
  var files: [PlistCommit.Change] { changed.sorted().compactMap { tables[$0] } }

  /// Adds all the changes of `batch`, or none. Call this only inside `writing`.
  ///
  /// - Throws: `CacheError` with the code `conflict` if a requirement does not hold, `overBounds` if the store would
  ///   exceed the batch's bounds, and the errors of loading a file.
  mutating func add(_ batch: WriteBatch, to store: PlistStore) throws(CacheError) {
    var done: [(namespace: String, undo: EntryTable.Undo)] = []
    do throws(CacheError) {
      for (namespace, part) in batch.dividedByNamespace() {
        if tables[namespace] == nil {
          let table = try store.load(namespace).table
          tables[namespace] = PlistCommit.Change(namespace: namespace, table: table, before: table)
        }
        // In place: a copy would cost as much as the table.
        if let undo = try tables[namespace]?.table.apply(part) { done.append((namespace, undo)) }
      }
      if let bounds = batch.bounds { try store.require(bounds, after: tables.values) }
    } catch {
      for (namespace, undo) in done { tables[namespace]?.table.revert(undo) }
      throw error
    }
    for (namespace, undo) in done where !undo.isEmpty { changed.insert(namespace) }
  }
}

extension PlistStore {
  /// Makes the changes of all `writes`, in order, and writes each file once. Each batch is all or nothing, and one that
  /// fails leaves the others alone.
  func apply(_ writes: [PlistWrite]) {
    var failure: CacheError?
    var hasLock = false
    do throws(CacheError) {
      try writing { () throws(CacheError) in
        hasLock = true
        var changes = PlistChanges()
        for write in writes {
          write.attempt { () throws(CacheError) in try changes.add(write.batch, to: self) }
        }
        try commit(changes.files)
      }
    } catch {
      failure = error
    }
    guard let failure else { return }
    // Together they may need more room than there is for each alone, and one may have seen what another wrote.
    let isWorthRepeating = hasLock && writes.count > 1
    for write in writes {
      write.failure.withLock { $0 = isWorthRepeating ? nil : failure }
      if isWorthRepeating { apply([write]) }
    }
  }

  /// Throws `CacheError` with the code `overBounds` if the store would exceed `bounds` after `changes`. Call this
  /// only inside `writing`. Cost: a `stat` for each namespace, and loading the ones that are not in memory.
  ///
  /// A namespace with a damaged file counts as empty: its entries cannot be counted, and must not stop writes to the
  /// other namespaces.
  func require(_ bounds: StoreBounds, after changes: some Sequence<PlistCommit.Change>) throws(CacheError) {
    var totals: [String: EntryTally.Count] = [:]
    for change in changes { totals[change.namespace] = change.table.tally.total() }
    for namespace in try folder.namespaces() where totals[namespace] == nil && namespace != bounds.exemptNamespace {
      do throws(CacheError) {
        totals[namespace] = try load(namespace).table.tally.total()
      } catch {
        guard error.isOfContent else { throw error }
      }
    }
    try bounds.require(EntryTally(totals))
  }
}

extension EntryTally {
  /// A tally with the given totals, which counts all entries of a namespace in one slot.
  fileprivate init(_ totals: [String: Count]) {
    self.init()
    for (namespace, count) in totals { add(count, to: Slot(namespace: namespace, freshSlot: 0, retainSlot: 0)) }
  }
}
