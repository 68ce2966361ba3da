internal import StorageSPI

extension WriteBatch {
  /// The operations on each namespace, in their order; the namespaces in the order of their names.
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

  /// Whether the batch makes `table` another one: requirements and the removal of what is not there do not.
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
