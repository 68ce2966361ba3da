internal import CCrashNotice
internal import CLMDB
internal import EngineSupport
internal import StorageSPI
internal import Synchronization

/// An open LMDB environment. `LMDBRegistry` makes sure that there is one per store and process.
///
/// `@unchecked Sendable`: the pointer does not change, and LMDB's environment is thread-safe. The one call that is not,
/// setting the size of the map, is made alone behind the gate.
final class LMDBEnvironment: @unchecked Sendable {
  static let maximumNamespaces = 128
  static let maximumReaders: UInt32 = 512
  /// The handle of the database that names the others, a constant of LMDB.
  static let mainDatabase: MDB_dbi = 1

  /// The store's folder.
  let path: String
  let pointer: OpaquePointer
  let isReadOnly: Bool
  /// Identifies the file, by device and inode.
  let identity: LMDBFileIdentity
  let keyCoding: LMDBKeyCoding
  let gate = Gate()
  /// Ends the transactions that idle readers of all handles keep open.
  let snapshots: SnapshotKeeper
  /// Runs commits that wait for the disk.
  let writing = BlockingExecutor()
  /// Runs checks of the whole store, which may have to read all of it from disk.
  let checking = BlockingExecutor()

  /// The number of the store among those that a crash of the process names.
  let notice: Int32

  private let databases = Mutex<[LMDBDatabase]>([])
  /// The tally's summary after this process's last transaction that changed entries; `nil` while one is running.
  private let summary = Mutex<LMDBSummary?>(nil)
  private let databaseOpening = Mutex<Void>(())
  /// The number of the latest transaction that a reader of this process has seen.
  private let confirmed = Atomic<UInt64>(0)
  /// Whether a check, or LMDB itself, has found damage.
  let isDamaged = Atomic(false)
  private let whenClosed: @Sendable (LMDBFileIdentity, _ latestSound: UInt64?) -> Void

  init(
    _ opened: consuming LMDBOpenedEnvironment, path: String, keyCoding: LMDBKeyCoding,
    snapshots: SnapshotKeeper = SnapshotKeeper(),
    whenClosed: @escaping @Sendable (LMDBFileIdentity, _ latestSound: UInt64?) -> Void = { _, _ in }
  ) {
    self.path = path
    self.identity = opened.state.identity
    self.isReadOnly = opened.isReadOnly
    let pointer = opened.release()
    self.pointer = pointer
    let (start, length) = Self.map(of: pointer)
    notice = ccrash_add(start, length, path, "lmdb", EngineConfiguration.crashMark(ofStore: path))
    mdb_env_set_userctx(pointer, UnsafeMutableRawPointer(bitPattern: Int(notice) + 1))
    // LMDB ends the process if this returns.
    mdb_env_set_assert(pointer) { pointer, _ in
      ccrash_end(Int32(Int(bitPattern: mdb_env_get_userctx(pointer))) - 1)
    }
    self.keyCoding = keyCoding
    self.snapshots = snapshots
    self.whenClosed = whenClosed
  }

  deinit {
    let latest = isDamaged.load(ordering: .relaxed) ? nil : latestTransaction
    ccrash_remove(notice)
    mdb_env_close(pointer)
    whenClosed(identity, latest)
  }

  /// The `CacheError` for an LMDB status.
  func error(_ status: Int32, _ action: String) -> CacheError {
    let error = CacheError.lmdb(status, action, path: path)
    if error.code == .damaged { isDamaged.store(true, ordering: .relaxed) }
    return error
  }

  /// The databases whose handles are known. Transactions that begin from now on can use these and no others. The list
  /// only ever grows.
  var knownDatabases: [LMDBDatabase] { databases.withLock { $0 } }

  /// Takes the last summary, so that the caller can change it without the allocation that a copy would cost.
  func takeSummary() -> LMDBSummary? { summary.withLock { $0.take() } }

  /// Keeps the summary for the transaction that it names.
  func keepSummary(_ latest: LMDBSummary) { summary.withLock { $0 = latest } }

  /// Makes LMDB order the names of databases by their bytes. LMDB sets this only when a database is opened by name, and
  /// looking for a name before that ends the process.
  ///
  /// - Throws: `busy` if the lock file belongs to another data file, which this one has replaced and which another
  ///   process still has open. The lock file says which transaction was last, and LMDB chooses the meta page by it.
  func openMainDatabase() throws(CacheError) {
    gate.enter()
    defer { gate.leave() }
    let latest = latestTransaction
    let transaction = try beginReading()
    defer { transaction.abort() }
    // A commit writes the number to its meta page before the lock file.
    let number = UInt64(bitPattern: Int64(transaction.number))
    guard number + 1 >= latest, number <= latestTransaction else { throw .lmdbStoreReplaced(path) }
    _ = try transaction.openDatabase(nil)
    try transaction.commit()
  }

  /// Opens the existing databases of `namespaces`, so that their handles become known. The caller is inside the gate
  /// and has no transaction open.
  ///
  /// LMDB requires that no two transactions open databases at once, and that a transaction that opened one ends before
  /// another uses the handle. Hence a separate transaction, behind a lock.
  func learnDatabases(_ namespaces: [LMDBNamespace]) throws(CacheError) {
    try adoptingMapSize { () throws(CacheError) in
      try databaseOpening.withLock { _ throws(CacheError) in
        let transaction = try LMDBTransaction(self, flags: MDB_RDONLY)
        defer { transaction.abort() }  // Before the lock is let go.
        var opened: [LMDBDatabase] = []
        for namespace in namespaces where !knownDatabases.contains(where: { $0.namespace == namespace }) {
          guard let handle = try transaction.openDatabase(namespace.name) else { continue }
          opened.append(LMDBDatabase(namespace: namespace, handle: handle))
        }
        try transaction.commit()
        databases.withLock { $0 += opened }
      }
    }
  }

  /// Calls `body` with the databases that the write transaction `transaction` can use, and commits. It ends the
  /// transaction in every case.
  ///
  /// If another transaction has opened a database since this one began, LMDB would reuse that handle for the next
  /// database that this one opens; so in that case it does nothing.
  ///
  /// - Parameters:
  ///   - known: the databases whose handles were known before the transaction began.
  ///   - needed: the other namespaces that `body` may need. Other transactions learn of them after the commit.
  /// - Returns: whether the transaction was committed; if not, a new transaction knows more databases.
  func withDatabases(
    _ known: [LMDBDatabase], and needed: [LMDBNamespaceUse], in transaction: LMDBTransaction,
    _ body: ([LMDBDatabase]) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool {
    defer { transaction.abort() }
    if needed.allSatisfy({ use in known.contains { $0.namespace == use.namespace } }) {
      try body(known)
      try transaction.commit()
      return true
    }
    return try databaseOpening.withLock { _ throws(CacheError) in
      defer { transaction.abort() }  // Before the lock is let go: LMDB's table of handles is settled only then.
      guard knownDatabases.count == known.count else { return false }
      var all = known
      for use in needed where !all.contains(where: { $0.namespace == use.namespace }) {
        guard let handle = try transaction.openDatabase(use.namespace.name, create: use.creates) else { continue }
        all.append(LMDBDatabase(namespace: use.namespace, handle: handle))
      }
      try body(all)
      try transaction.commit()
      databases.withLock { $0 = all }
      return true
    }
  }

  /// Begins a write transaction, inside the gate. Blocks while another writer is active.
  ///
  /// First ends the transactions that idle readers keep open, so that the writer can reuse the pages they saw.
  ///
  /// What a commit waits for is a property of the environment, but its handles may want different durabilities. This
  /// sets it here because the write transaction that has just begun is the only one: no other thread sets or reads the
  /// property.
  func beginWriting(_ durability: Durability) throws(CacheError) -> LMDBTransaction {
    snapshots.endIdle()
    let transaction = try LMDBTransaction(self, flags: 0)
    let all = UInt32(MDB_NOSYNC | MDB_NOMETASYNC)
    mdb_env_set_flags(pointer, all & ~durability.commitFlags, 0)
    mdb_env_set_flags(pointer, durability.commitFlags, 1)
    return transaction
  }

  /// Begins a read transaction, inside the gate.
  func beginReading() throws(CacheError) -> LMDBTransaction {
    try adoptingMapSize { () throws(CacheError) in try LMDBTransaction(self, flags: MDB_RDONLY) }
  }

  /// Lends a reader to `body`, inside the gate.
  func withReader<Output>(
    _ body: (LMDBReader) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    gate.enter()
    defer { gate.leave() }
    return try body(try LMDBReader(self))
  }

  /// Does what a reader's `withSnapshot` does, with a reader for this one call.
  func withSnapshot<Output>(
    _ body: (LMDBTransaction) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    try withReader { reader throws(CacheError) in try reader.withSnapshot(body) }
  }
}

/// Tells which state of the store is the latest, by its transaction number.
extension LMDBEnvironment {
  /// The number of the last transaction that any process committed, according to the meta pages. The caller is inside
  /// the gate.
  var latestTransaction: UInt64 {
    var info = MDB_envinfo()
    mdb_env_info(pointer, &info)
    return UInt64(bitPattern: Int64(info.me_last_txnid))
  }

  /// Records that a reader sees the state of the transaction `number`.
  func confirm(_ number: UInt64) {
    if confirmed.load(ordering: .relaxed) < number { confirmed.max(number, ordering: .releasing) }
  }

  /// The number of the last transaction if every reader sees its state or a later one from now on; otherwise `nil`. The
  /// caller is inside the gate.
  ///
  /// A commit writes the meta page first and then tells readers. In between, or for longer if the process died there,
  /// readers still see the state before. So a number counts only once a reader has seen it.
  var changeCount: UInt64? {
    let latest = latestTransaction
    return latest <= confirmed.load(ordering: .acquiring) ? latest : nil
  }
}
