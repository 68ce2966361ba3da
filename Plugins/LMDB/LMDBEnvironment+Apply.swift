internal import CLMDB
internal import Glibc
internal import StorageSPI

extension LMDBEnvironment {
  /// The largest value of LMDB, in bytes.
  static let maximumValueSize = 0xFFFF_FFFF

  /// Makes all the changes of `batch` in one transaction, or none. Blocks while another writer is at work, and for the
  /// disk unless `durability` is relaxed.
  func apply(_ batch: WriteBatch, _ durability: Durability) throws(StorageError) {
    if batch.operations.isEmpty { return }
    guard !isReadOnly else { throw error(EACCES, "write to") }
    let namespaces = try namespaces(of: batch)
    try growing(for: estimate(batch)) { () throws(StorageError) in
      let transaction = try beginWriting(durability)
      try withDatabases(namespaces, in: transaction) { databases throws(StorageError) in
        for operation in batch.operations { try apply(operation, databases, transaction) }
      }
    }
  }

  private func apply(
    _ operation: WriteBatch.Operation, _ databases: [LMDBDatabase], _ transaction: LMDBTransaction
  ) throws(StorageError) {
    try operation.key.withBytes { key throws(StorageError) in
      let namespace = LMDBNamespace(key, count: operation.key.namespaceLength)
      let database = databases.first { $0.namespace == namespace }?.handle
      switch operation {
      case .put(let name, let payload, let metadata):
        guard let database else { throw error(MDB_DBS_FULL, "write to") }
        try transaction.put(key, name, payload, metadata, in: database)
      case .remove:
        guard let database else { return }
        try transaction.withStoredKey(key, in: database) { stored throws(StorageError) in
          try transaction.remove(stored, in: database)
        }
      case .require(let name, let expectation):
        let value =
          if let database { try transaction.value(ofKey: key, in: database) } else { nil as UnsafeRawBufferPointer? }
        let checksum = try decoding(name) { () throws(LMDBFault) in
          if let value { try LMDBEntry(value).checksum } else { nil as UInt64? }
        }
        guard expectation.isMet(byChecksum: checksum) else { throw .conflict(on: name) }
      }
    }
  }

  /// The namespaces of the batch, and whether something is stored in each.
  private func namespaces(of batch: WriteBatch) throws(StorageError) -> [LMDBNamespace: Bool] {
    var namespaces: [LMDBNamespace: Bool] = [:]
    for operation in batch.operations {
      let namespace = try operation.key.withBytes { LMDBNamespace($0, count: operation.key.namespaceLength) }
      let stores = if case .put = operation { true } else { false }
      namespaces[namespace, default: false] = namespaces[namespace, default: false] || stores
    }
    return namespaces
  }

  /// How many bytes of new pages the batch takes about: every payload in whole pages, some pages of the tree for each
  /// operation, and as many for the list of free pages.
  private func estimate(_ batch: WriteBatch) -> Int {
    batch.operations.reduce(262_144) { sum, operation in
      guard case .put(_, let payload, _) = operation else { return sum + 4_096 }
      return sum + payload.count + (payload.count > 1_024 ? 8_192 : 2_048)
    }
  }
}

extension LMDBTransaction {
  fileprivate func put(
    _ bytes: UnsafeRawBufferPointer, _ key: CacheKey, _ payload: [UInt8], _ metadata: EntryMetadata,
    in database: MDB_dbi
  ) throws(StorageError) {
    let header = LMDBEntryCoding.header(
      metadata, fullKey: bytes.count > LMDBKeyCoding.prefixSize ? key.text : nil)
    let size = header.count + payload.count
    guard size <= LMDBEnvironment.maximumValueSize else { throw environment.error(MDB_BAD_VALSIZE, "write \(key) to") }
    try withStoredKey(bytes, in: database) { stored throws(StorageError) in
      let room = try reserve(stored, count: size, in: database)
      room.copyBytes(from: header)
      UnsafeMutableRawBufferPointer(rebasing: room[header.count...]).copyBytes(from: payload)
    }
  }
}

extension Durability {
  /// What a commit does not wait for.
  var commitFlags: UInt32 {
    switch self {
    case .full: 0
    case .normal: UInt32(MDB_NOMETASYNC)
    case .relaxed: UInt32(MDB_NOSYNC)
    }
  }
}

extension WriteBatch.Operation {
  fileprivate var key: CacheKey {
    switch self {
    case .put(let key, _, _), .remove(let key), .require(let key, _): key
    }
  }
}
