internal import StorageSPI

/// What a batch leaves of the entries that near may hold: all but leases.
struct TieredChanges: Sendable {
  /// An entry to store.
  struct Put: Sendable {
    let payload: [UInt8]
    let metadata: EntryMetadata
  }

  /// The state to reach of each key, `nil` for an entry to remove, in no order.
  private(set) var finals: [(key: CacheKey, put: Put?)] = []

  /// The changes of `batch`.
  init(_ batch: WriteBatch) {
    var places: [CacheKey: Int] = [:]
    for operation in batch.operations {
      let (key, put): (CacheKey, Put?)
      switch operation {
      case .require: continue
      case .put(let changed, let payload, let metadata):
        (key, put) = (changed, Put(payload: payload, metadata: metadata))
      case .remove(let changed): (key, put) = (changed, nil)
      }
      guard !key.isLease else { continue }
      if let place = places[key] {
        finals[place].put = put
      } else {
        places[key] = finals.count
        finals.append((key, put))
      }
    }
  }

  /// The change that makes near hold an entry as far has it.
  init(_ key: CacheKey, _ put: Put?) { finals = [(key, put)] }

  /// The sum of the payload sizes.
  var payloadBytes: Int { finals.reduce(0) { $0 + ($1.put?.payload.count ?? 0) } }

  /// The changes as a batch.
  var batch: WriteBatch {
    var batch = WriteBatch()
    for (key, put) in finals {
      if let put { batch.put(key, payload: put.payload, metadata: put.metadata) } else { batch.remove(key) }
    }
    return batch
  }

  /// Removes all the entries.
  var removals: WriteBatch {
    var batch = WriteBatch()
    for (key, _) in finals { batch.remove(key) }
    return batch
  }
}

extension CacheKey {
  /// Whether it is the key of a lease.
  var isLease: Bool { namespaceLength == Lease.namespace.utf8.count && text.hasPrefix(Lease.keyPrefix) }
}
