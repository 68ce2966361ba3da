internal import CLMDB
internal import EngineAPI
internal import CacheBase
internal import Synchronization

/// Changes of entries, with their count and its bounds.
extension LMDBEnvironment {
  /// Makes all the changes of `batch` in one transaction, or none. Blocks while another writer is active, and for the
  /// disk unless `durability` is relaxed.
  func apply(_ batch: WriteBatch, _ durability: Durability) throws(CacheError) {
    try change(durability, bounds: batch.bounds) { writer throws(CacheError) in
      for operation in batch.operations { try writer.apply(operation) }
    }
  }

  /// Changes entries and their count in one transaction. Changes nothing if `body` fails, or if the store would exceed
  /// `bounds`.
  func change(
    _ durability: Durability, bounds: StoreBounds? = nil, _ body: (LMDBWriter) throws(CacheError) -> Void
  ) throws(CacheError) {
    guard !isReadOnly else { throw error(EACCES, "write to") }
    gate.enter()
    defer { gate.leave() }
    try growingMap { () throws(CacheError) in
      try databaseOpening.withLock { _ throws(CacheError) in
        let writer = try LMDBWriter(self, durability)
        defer { writer.abort() }  // Before the lock is let go.
        try body(writer)
        try writer.commit(bounds)
      }
    }
  }

  /// How much the store holds. If a program that does not count has written to it, this takes a pass over all entries.
  func count() throws(CacheError) -> StoreCount {
    var count = try withDatabases { transaction, databases throws(CacheError) in
      if let kept = try transaction.keptCount() { return kept }
      return try transaction.counted(databases)
    }
    count.storageBytes = files.allocatedBytes
    return count
  }
}

extension LMDBTransaction {
  /// The count of the state that this transaction reads; `nil` if none is stored for that state.
  func keptCount() throws(CacheError) -> StoreCount? {
    guard let record = try countRecord(), record.transaction == number else { return nil }
    return record.count
  }

  /// Counts all entries, except those that cannot be decoded.
  func counted(_ databases: [LMDBDatabase]) throws(CacheError) -> StoreCount {
    var count = StoreCount()
    for database in databases {
      var part = EntryCount()
      try forEachItem(in: database.handle) { item throws(CacheError) in
        guard let entry = EncodedEntry(item.value) else { return }
        part.add(payloadBytes: entry.payloadSize, retainUntil: entry.retainUntil ?? Timestamp(milliseconds: 0))
      }
      count[database.namespace.name] = part
    }
    return count
  }
}

/// A write transaction, and what it changes of the count. It does not leave the thread that begins it, which has the lock
/// `databaseOpening`.
final class LMDBWriter {
  /// A namespace, and what the transaction has done in it.
  private struct Part {
    let database: LMDBDatabase
    /// LMDB finds a key near the one before it without a descent of the tree.
    var cursor: LMDBCursor?
    var change = EntryCount()
  }

  private let environment: LMDBEnvironment
  private let transaction: LMDBTransaction
  private var parts: [Part]
  /// The count of the state before.
  private var record = LMDBCountRecord(transaction: 0, count: StoreCount())
  /// Whether to write the count, and so to use a transaction number.
  var hasChanged = false
  /// Whether the count is right after the changes. It is not if an entry was replaced or removed that cannot be decoded.
  private var isExact = true

  /// Begins a write transaction, inside the gate. Blocks while another writer is active. Counts all entries if the last
  /// transaction has not.
  init(_ environment: LMDBEnvironment, _ durability: Durability) throws(CacheError) {
    self.environment = environment
    parts = environment.databases.withLock { $0 }.map { Part(database: $0) }
    transaction = try environment.beginWriting(durability)
    let last = transaction.number - 1
    // If the transaction numbers are consecutive, no other process has written since this one did.
    if let kept = environment.countRecord.withLock({ $0.take() }), kept.transaction == last {
      record = kept
    } else if let kept = try transaction.countRecord(), kept.transaction == last {
      record = kept
    } else {
      for namespace in try transaction.namespaces() { _ = try part(of: namespace, creates: false) }
      record.count = try transaction.counted(parts.map(\.database))
    }
  }

  /// Discards the changes, unless they are committed.
  func abort() {
    closeCursors()
    transaction.abort()
  }

  /// Writes the count, and commits.
  ///
  /// - Throws: `overBounds` if the store would exceed `bounds`.
  func commit(_ bounds: StoreBounds?) throws(CacheError) {
    for part in parts where part.change != EntryCount() {
      let sum = record.count[part.database.namespace.name] + part.change
      if sum.entries < 0 || sum.payloadBytes < 0 { isExact = false }
      record.count[part.database.namespace.name] = sum
    }
    try bounds?.require(record.count)
    if hasChanged {
      record.transaction = isExact ? transaction.number : 0
      try transaction.write(record)
    }
    closeCursors()
    try transaction.commit()
    environment.countRecord.withLock { $0 = record }
    environment.databases.withLock { $0 = parts.map(\.database) }
  }

  /// Makes one change, or checks a requirement.
  func apply(_ operation: WriteBatch.Operation) throws(CacheError) {
    switch operation {
    case .put(let key, let payload, let metadata):
      try put(key, payload, metadata)
    case .update(let key, let metadata, let checksum):
      guard let entry = try entry(under: key), entry.checksum == checksum else { throw .conflict(on: key) }
      // A copy, because LMDB can move the value before it is written again.
      try put(key, Array(entry.payload), metadata)
    case .remove(let key):
      try remove(key)
    case .require(let key, let expectation):
      guard expectation.isMet(byChecksum: try entry(under: key)?.checksum) else { throw .conflict(on: key) }
    }
  }

  /// Removes the entries that are expired at `time`. Leaves undecodable entries alone, because it is unknown whether they
  /// have expired.
  func removeExpired(at time: Timestamp) throws(CacheError) {
    for namespace in try transaction.namespaces() {
      guard let part = try part(of: namespace, creates: false) else { continue }
      let cursor = try cursor(of: part)
      var earliest = Timestamp.distantFuture
      var item = try cursor.first()
      while let (_, value) = item {
        if let retainUntil = EncodedEntry(value)?.retainUntil {
          if time >= retainUntil {
            stopCounting(value, in: part)
            try cursor.remove()
          } else {
            earliest = min(earliest, retainUntil)
          }
        }
        item = try cursor.next()
      }
      record.count[namespace.name].earliestExpiry = earliest
    }
    hasChanged = true
  }

  private func put(_ key: CacheKey, _ payload: [UInt8], _ metadata: EntryMetadata) throws(CacheError) {
    try locate(key, creates: true) { part, stored throws(CacheError) in
      let header = metadata.encoded(key: LMDBKey.isShortened(stored) ? key.text : "")
      let size = header.count + payload.count
      // The largest value that LMDB stores.
      guard size <= 0xFFFF_FFFF else { throw environment.error(MDB_BAD_VALSIZE, "write \(key) to") }
      let room = try cursor(of: part).reserve(stored, count: size) { stopCounting($0, in: part) }
      room.copyBytes(from: header)
      UnsafeMutableRawBufferPointer(rebasing: room[header.count...]).copyBytes(from: payload)
      parts[part].change.add(payloadBytes: payload.count, retainUntil: metadata.retainUntil)
      hasChanged = true
    }
  }

  private func remove(_ key: CacheKey) throws(CacheError) {
    try locate(key) { part, stored throws(CacheError) in
      let cursor = try cursor(of: part)
      guard let item = try cursor.find(stored) else { return }
      stopCounting(item.value, in: part)
      try cursor.remove()
    }
  }

  private func entry(under key: CacheKey) throws(CacheError) -> EncodedEntry? {
    let value = try locate(key) { part, stored throws(CacheError) in try cursor(of: part).find(stored)?.value }
    guard let value = value.flatMap({ $0 }) else { return nil }
    guard let entry = EncodedEntry(value) else { throw .unreadable(key) }
    return entry
  }

  /// Calls `body` with the index of the namespace of `key`, and the key as it is stored; `nil` if the namespace does not
  /// exist and `creates` is false.
  @discardableResult
  private func locate<Output>(
    _ key: CacheKey, creates: Bool = false, _ body: (Int, UnsafeRawBufferPointer) throws(CacheError) -> Output
  ) throws(CacheError) -> Output? {
    try key.withBytes { bytes throws(CacheError) in
      let namespace = LMDBNamespace(bytes, count: key.namespaceLength)
      guard let part = try part(of: namespace, creates: creates) else { return nil }
      return try LMDBKey.withStored(bytes) { stored throws(CacheError) in try body(part, stored) }
    }
  }

  /// Stops counting the entry in `value`, which is about to be replaced or removed.
  private func stopCounting(_ value: UnsafeRawBufferPointer, in part: Int) {
    hasChanged = true
    if let entry = EncodedEntry(value) {
      parts[part].change.remove(payloadBytes: entry.payloadSize)
    } else {
      isExact = false
    }
  }

  /// The index of a namespace; `nil` if it does not exist and `creates` is false.
  private func part(of namespace: LMDBNamespace, creates: Bool) throws(CacheError) -> Int? {
    if let index = parts.firstIndex(where: { $0.database.namespace == namespace }) { return index }
    guard let handle = try transaction.openDatabase(namespace.name, create: creates) else { return nil }
    parts.append(Part(database: LMDBDatabase(namespace: namespace, handle: handle)))
    return parts.count - 1
  }

  private func cursor(of part: Int) throws(CacheError) -> LMDBCursor {
    if let cursor = parts[part].cursor { return cursor }
    let cursor = try transaction.openCursor(on: parts[part].database.handle)
    parts[part].cursor = cursor
    return cursor
  }

  /// LMDB requires it before the transaction ends.
  private func closeCursors() { for index in parts.indices { parts[index].cursor = nil } }
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
