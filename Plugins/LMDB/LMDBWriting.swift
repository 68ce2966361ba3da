internal import CLMDB
internal import Platform
internal import StorageSPI

extension LMDBEnvironment {
  /// The largest value that LMDB stores, in bytes.
  static let maximumValueSize = 0xFFFF_FFFF

  /// Makes all the changes of `batch` in one transaction, or none. Blocks while another writer is active, and for the
  /// disk unless `durability` is relaxed.
  func apply(_ batch: WriteBatch, _ durability: Durability) throws(CacheError) {
    if batch.changesNothing { return }
    guard !isReadOnly else { throw error(EACCES, "write to") }
    let needs = try LMDBBatchNeeds(batch, besides: knownDatabases)
    try change(
      needs.namespaces, bytes: needs.bytes, durability, bounds: batch.bounds
    ) { transaction, databases, tally throws(CacheError) in
      for operation in batch.operations { try apply(operation, databases, transaction, &tally) }
    }
  }

  private func apply(
    _ operation: WriteBatch.Operation, _ databases: [LMDBDatabase], _ transaction: LMDBTransaction,
    _ tally: inout LMDBTallyChange
  ) throws(CacheError) {
    try operation.key.withBytes { key throws(CacheError) in
      let namespace = LMDBNamespace(key, count: operation.key.namespaceLength)
      let database = databases.first { $0.namespace == namespace }
      switch operation {
      case .put(let name, let payload, let metadata):
        guard let database else { throw error(MDB_DBS_FULL, "write to") }
        try transaction.put(key, name, payload, metadata, in: database, &tally)
      case .remove:
        guard let database else { return }
        try transaction.remove(key, in: database, &tally)
      case .require(let name, let expectation):
        let value =
          if let database { try transaction.value(ofKey: key, in: database.handle) } else {
            nil as UnsafeRawBufferPointer?
          }
        let checksum = try decoding(name) { () throws(LMDBFault) in
          if let value { try LMDBEntry(value).checksum } else { nil as UInt64? }
        }
        guard expectation.isMet(byChecksum: checksum) else { throw .conflict(on: name) }
      }
    }
  }
}

/// What a batch needs of the store, collected in one pass: looking at an operation retains and releases all its parts.
private struct LMDBBatchNeeds {
  /// The namespaces that the batch needs, and whether it stores something in each. There are too few to be worth a
  /// table.
  private(set) var namespaces: [LMDBNamespaceUse] = []
  /// The approximate size of the new pages, in bytes: every payload in whole pages, a few tree pages for each
  /// operation, and as many for the list of free pages.
  private(set) var bytes = 262_144

  private let known: [LMDBDatabase]

  init(_ batch: WriteBatch, besides known: [LMDBDatabase]) throws(CacheError) {
    self.known = known
    for operation in batch.operations {
      switch operation {
      case .put(let key, let payload, _):
        bytes += payload.count + (payload.count > 1_024 ? 8_192 : 2_048)
        try add(key, creates: true)
      case .remove(let key), .require(let key, _):
        bytes += 4_096
        try add(key, creates: false)
      }
    }
  }

  private mutating func add(_ key: CacheKey, creates: Bool) throws(CacheError) {
    let namespace = try key.withBytes { LMDBNamespace($0, count: key.namespaceLength) }
    if known.contains(where: { $0.namespace == namespace }) { return }
    if let index = namespaces.firstIndex(where: { $0.namespace == namespace }) {
      if creates { namespaces[index].creates = true }
    } else {
      namespaces.append(LMDBNamespaceUse(namespace: namespace, creates: creates))
    }
  }
}

extension LMDBTransaction {
  fileprivate func put(
    _ bytes: UnsafeRawBufferPointer, _ key: CacheKey, _ payload: [UInt8], _ metadata: EntryMetadata,
    in database: LMDBDatabase, _ tally: inout LMDBTallyChange
  ) throws(CacheError) {
    let header = LMDBEntryHeader(metadata, fullKey: bytes.count > LMDBKeyCoding.prefixSize ? key.text : nil)
    let size = header.size + payload.count
    guard size <= LMDBEnvironment.maximumValueSize else { throw environment.error(MDB_BAD_VALSIZE, "write \(key) to") }
    try withStoredKey(bytes, in: database.handle) { stored throws(CacheError) in
      let room = try replace(stored, count: size, in: database.handle) { old throws(CacheError) in
        try tally.remove(old, in: database.namespace)
      }
      // Before updating the tally, which may write too: LMDB may then write pages out, including this one, and release
      // them.
      header.write(to: room)
      UnsafeMutableRawBufferPointer(rebasing: room[header.size...]).copyBytes(from: payload)
      try tally.add(metadata, payloadBytes: payload.count, in: database.namespace)
    }
  }

  fileprivate func remove(
    _ bytes: UnsafeRawBufferPointer, in database: LMDBDatabase, _ tally: inout LMDBTallyChange
  ) throws(CacheError) {
    // If a long key is not stored, there may be no stored form left for it.
    if bytes.count > LMDBKeyCoding.prefixSize, try value(ofKey: bytes, in: database.handle) == nil { return }
    try withStoredKey(bytes, in: database.handle) { stored throws(CacheError) in
      try remove(stored, in: database.handle) { old throws(CacheError) in
        try tally.remove(old, in: database.namespace)
      }
    }
  }
}

extension Durability {
  /// The flags for waits that a commit skips.
  var commitFlags: UInt32 {
    switch self {
    case .full: 0
    case .normal: UInt32(MDB_NOMETASYNC)
    case .relaxed: UInt32(MDB_NOSYNC)
    }
  }
}

extension WriteBatch {
  /// Whether there is nothing to change and there are no bounds to check.
  var changesNothing: Bool { operations.isEmpty && bounds == nil }
}

extension WriteBatch.Operation {
  fileprivate var key: CacheKey {
    switch self {
    case .put(let key, _, _), .remove(let key), .require(let key, _): key
    }
  }
}
