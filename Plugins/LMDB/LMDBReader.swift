internal import CLMDB
internal import EngineAPI
internal import CacheBase
internal import Synchronization

/// A reusable read transaction, with the handles of the databases that it can use. If nothing changes it stays open
/// and keeps seeing its state; see `KeptSnapshot`.
///
/// It is taken from its pool, used and returned inside the environment's gate.
///
/// `@unchecked Sendable`: the pool gives it to one caller at a time.
final class LMDBReader: SnapshotHolding, @unchecked Sendable {
  let environment: LMDBEnvironment
  private let transaction: LMDBTransaction
  private var databases: [LMDBDatabase]
  // Every read accesses these, and the caller has the reader to itself: checking exclusivity at run time costs too
  // much.
  /// The database used last, which is most often the next one too.
  @exclusivity(unchecked) private var latest: LMDBDatabase?
  @exclusivity(unchecked) private var kept: KeptSnapshot

  /// The caller is inside the gate.
  init(_ environment: LMDBEnvironment) throws(CacheError) {
    databases = environment.databases.withLock { $0 }
    transaction = try environment.growingMap { () throws(CacheError) in
      try LMDBTransaction(environment, flags: MDB_RDONLY)
    }
    transaction.reset()
    kept = KeptSnapshot(environment.snapshots)
    self.environment = environment
  }

  /// Finds the entry under `key` in the latest state. If there is one, the state is held until `end()`.
  ///
  /// This is the hot path: it allocates nothing, and is not generic, which saves looking up type metadata.
  func begin(reading key: UnsafeRawBufferPointer, namespaceLength: Int) throws(CacheError) -> EncodedEntry? {
    guard let database = try database(LMDBNamespace(key, count: namespaceLength)) else { return nil }
    try begin()
    do throws(CacheError) {
      if let value = try transaction.value(ofKey: key, in: database) {
        guard let entry = EncodedEntry(value) else {
          throw .unreadable(CacheKey(trusting: key.assumingMemoryBound(to: UInt8.self).span))
        }
        return entry
      }
    } catch {
      end()
      throw error
    }
    end()
    return nil
  }

  /// The same, for a `CacheKey`.
  func begin(reading key: CacheKey) throws(CacheError) -> EncodedEntry? {
    try key.withBytes { bytes throws(CacheError) in try begin(reading: bytes, namespaceLength: key.namespaceLength) }
  }

  /// Calls `body` with the latest state, and the databases of all namespaces, in order.
  func withDatabases<Output>(
    _ body: (LMDBTransaction, [LMDBDatabase]) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    while true {
      do {
        try begin()
        defer { end() }
        let namespaces = try transaction.namespaces()
        let found = namespaces.compactMap { namespace in databases.first { $0.namespace == namespace } }
        if found.count == namespaces.count { return try body(transaction, found) }
      }
      try learnDatabases()
    }
  }

  /// The handle of a namespace's database; `nil` if it does not exist.
  private func database(_ namespace: LMDBNamespace) throws(CacheError) -> MDB_dbi? {
    if let latest, latest.namespace == namespace { return latest.handle }
    latest = databases.first { $0.namespace == namespace }
    if let latest { return latest.handle }
    try begin()
    let exists = Result { () throws(CacheError) in try transaction.namespaces().contains(namespace) }
    end()
    guard try exists.get() else { return nil }
    try learnDatabases()
    latest = databases.first { $0.namespace == namespace }
    return latest?.handle
  }

  /// Adopts the handles of all namespaces. A transaction that began before cannot use them.
  private func learnDatabases() throws(CacheError) {
    endKeptSnapshot()
    try environment.learnDatabases()
    databases = environment.databases.withLock { $0 }
  }

  private func begin() throws(CacheError) {
    if !kept.isCurrent(environment.latestTransaction) { try renew() }
  }

  private func renew() throws(CacheError) {
    endKeptSnapshot()
    try environment.growingMap { () throws(CacheError) in try transaction.renew() }
    let number = UInt64(bitPattern: Int64(transaction.number))
    environment.confirm(number)
    kept.began(at: number)
  }

  /// Releases the state, unless the snapshot is kept.
  func end() {
    if !kept.stays() { transaction.reset() }
  }

  func endKeptSnapshot() {
    guard kept.isOpen else { return }
    transaction.reset()
    kept.ended()
  }
}

/// Collects a page of entries, ordered by full key.
struct LMDBScan {
  private(set) var page: ScanPage.Builder
  private let transaction: LMDBTransaction
  /// The part of the wanted prefix that every stored key of the page begins with.
  private let prefix: [UInt8]
  /// The part of the map that has the values that were read.
  private var pages: (start: UInt, end: UInt) = (.max, 0)

  /// Starts a scan.
  init(_ page: ScanPage.Builder, _ transaction: LMDBTransaction) {
    self.page = page
    self.transaction = transaction
    prefix = Array(page.request.prefix.utf8.prefix(LMDBKey.prefixSize))
  }

  private var request: ScanRequest { page.request }

  /// Scans the databases, which are in order.
  mutating func visit(_ databases: [LMDBDatabase]) throws(CacheError) {
    for database in request.isDescending ? databases.reversed() : databases where !page.isComplete {
      try visit(database)
    }
  }

  private mutating func visit(_ database: LMDBDatabase) throws(CacheError) {
    let cursor = try transaction.openCursor(on: database.handle)
    var item = try first(cursor)
    while let (stored, value) = item, !page.isComplete, stored.starts(with: prefix) {
      guard !LMDBKey.isShortened(stored) else {
        item = try visitGroup(from: (stored, value), cursor, database)
        continue
      }
      let key = try transaction.key(of: (stored, value), in: database)
      if request.contains(key) { try append(key, value) }
      item = try next(cursor)
    }
  }

  /// Collects the long keys that share the current key's prefix, and visits them in true order.
  ///
  /// - Returns: the item after the group.
  private mutating func visitGroup(
    from first: LMDBCursor.Item, _ cursor: LMDBCursor, _ database: LMDBDatabase
  ) throws(CacheError) -> LMDBCursor.Item? {
    let prefix = first.key.prefix(LMDBKey.prefixSize)
    var group: [(key: CacheKey, value: UnsafeRawBufferPointer)] = []
    var item: LMDBCursor.Item? = first
    while let current = item, LMDBKey.isShortened(current.key), current.key.starts(with: prefix) {
      let key = try transaction.key(of: current, in: database)
      if request.contains(key) { group.append((key, current.value)) }
      item = try next(cursor)
    }
    group.sort { request.isDescending ? $0.key > $1.key : $0.key < $1.key }
    for (key, value) in group where !page.isComplete { try append(key, value) }
    return item
  }

  /// The first item that can be in the page.
  private func first(_ cursor: LMDBCursor) throws(CacheError) -> LMDBCursor.Item? {
    guard request.isDescending else {
      let start = max(request.prefix, request.position ?? "")
      return try cursor.seek(Array(start.utf8.prefix(LMDBKey.prefixSize)))
    }
    // No byte of a key or a digest is as high as 0x7F.
    let end = min(request.prefix + "\u{7F}", request.position ?? "\u{7F}").utf8
    let start = Array(end.prefix(LMDBKey.prefixSize)) + (end.count > LMDBKey.prefixSize ? [0x7F] : [])
    return try cursor.seek(start) == nil ? cursor.last() : cursor.previous()
  }

  private func next(_ cursor: LMDBCursor) throws(CacheError) -> LMDBCursor.Item? {
    try request.isDescending ? cursor.previous() : cursor.next()
  }

  /// Adds an entry, or ends the page before it.
  private mutating func append(_ key: CacheKey, _ value: UnsafeRawBufferPointer) throws(CacheError) {
    guard let entry = EncodedEntry(value), let metadata = entry.metadata() else { throw .unreadable(key) }
    let isAdded = page.add(key, metadata, payloadBytes: entry.payloadSize, payload: Array(entry.payload))
    guard isAdded else { return }
    let start = UInt(bitPattern: value.baseAddress)
    let count = request.includesPayloads ? value.count : value.count - entry.payloadSize
    pages = (min(pages.start, start), max(pages.end, start + UInt(count)))
  }

  /// Removes the pages that a large scan has read from this process's memory; they stay in the system's cache, where
  /// concurrent readers find them again. It is not an error if the system ignores the advice.
  func releaseMappedPages() {
    guard pages.end > 0, request.includesPayloads || page.page.entries.count > 256 else { return }
    let pageMask = UInt(getpagesize()) - 1
    guard let start = UnsafeMutableRawPointer(bitPattern: pages.start & ~pageMask) else { return }
    madvise(start, Int(pages.end - UInt(bitPattern: start)), MADV_DONTNEED)
  }
}
