internal import EngineSupport
internal import StorageSPI

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

  /// Whether the batch changes `table`; requirements, and removals of absent entries, do not.
  func changes(_ table: EntryTable) -> Bool {
    operations.contains { operation in
      switch operation {
      case .put: true
      case .remove(let key): table[key] != nil
      case .require: false
      }
    }
  }
}

extension PlistStore {
  /// The file changes that `batch` makes. Call this only inside `writing`.
  ///
  /// - Throws: `CacheError` with the code `conflict` if a requirement does not hold.
  func changes(of batch: WriteBatch) throws(CacheError) -> [PlistCommit.Change] {
    var changes: [PlistCommit.Change] = []
    for (namespace, part) in batch.dividedByNamespace() {
      let before = try load(namespace).table
      var table = before
      try table.apply(part)
      guard part.changes(before) else { continue }
      changes.append(PlistCommit.Change(namespace: namespace, table: table, before: before))
    }
    return changes
  }

  /// Throws `CacheError` with the code `overBounds` if the store would exceed `bounds` after `changes`. Call this
  /// only inside `writing`. Cost: a `stat` for each namespace, and loading the ones that are not in memory.
  ///
  /// A namespace with a damaged file counts as empty: its entries cannot be counted, and must not stop writes to the
  /// other namespaces.
  func require(_ bounds: StoreBounds, after changes: [PlistCommit.Change]) throws(CacheError) {
    var totals: [String: EntryTally.Count] = [:]
    for change in changes { totals[change.namespace] = change.table.tally.total() }
    for namespace in try folder.namespaces() where totals[namespace] == nil && namespace != bounds.exemptNamespace {
      totals[namespace] = try loadIfReadable(namespace)?.table.tally.total()
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
