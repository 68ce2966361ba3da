internal import CLMDB
internal import StorageSPI
internal import Synchronization

/// An open LMDB environment. There is one a store and process; `LMDBRegistry` sees to that.
///
/// `@unchecked Sendable`: the pointer does not change, LMDB's environment is made for many threads, and the one call on
/// it that is not, setting the size of the map, is made alone behind the gate.
final class LMDBEnvironment: @unchecked Sendable {
  static let maximumNamespaces = 128
  static let maximumReaders: UInt32 = 512
  /// The handle of the database of databases, a constant of LMDB.
  static let mainDatabase: MDB_dbi = 1

  /// The folder.
  let path: String
  let pointer: OpaquePointer
  let isReadOnly: Bool
  /// Which file this is, by device and inode.
  let identity: LMDBFileIdentity
  let keyCoding: LMDBKeyCoding
  let gate = LMDBGate()
  /// Where commits wait for the disk.
  let writing = BlockingExecutor()
  /// Where checks of the whole store run, which may have to read all of it from the disk.
  let checking = BlockingExecutor()

  private let databases = Mutex<[LMDBDatabase]>([])
  /// The tally's summary after the last transaction of this process that changed entries; `nil` while one is at work.
  private let summary = Mutex<LMDBSummary?>(nil)
  private let databaseOpening = Mutex<Void>(())
  private let whenClosed: @Sendable (LMDBFileIdentity) -> Void

  init(
    _ opened: consuming LMDBOpenedEnvironment, path: String, keyCoding: LMDBKeyCoding,
    whenClosed: @escaping @Sendable (LMDBFileIdentity) -> Void
  ) {
    self.path = path
    self.identity = opened.identity
    self.isReadOnly = opened.isReadOnly
    self.pointer = opened.release()
    self.keyCoding = keyCoding
    self.whenClosed = whenClosed
  }

  deinit {
    mdb_env_close(pointer)
    whenClosed(identity)
  }

  /// What the status means here.
  func error(_ status: Int32, _ action: String) -> StorageError { .lmdb(status, action, path: path) }

  /// The databases whose handles are known, which transactions begun from now on can use.
  var knownDatabases: [LMDBDatabase] { databases.withLock { $0 } }

  /// The summary last kept, which is the caller's to change: a copy of it would cost an allocation.
  func takeSummary() -> LMDBSummary? { summary.withLock { $0.take() } }

  /// Keeps the summary of the transaction that it names.
  func keepSummary(_ latest: LMDBSummary) { summary.withLock { $0 = latest } }

  /// Tells LMDB to order the names of databases by their bytes. It does so by itself only when one is opened by name; to
  /// look for a name before that ends the process.
  func openMainDatabase() throws(StorageError) {
    let transaction = try beginReading()
    defer {
      transaction.abort()
      gate.leave()
    }
    _ = try transaction.openDatabase(nil)
    try transaction.commit()
  }

  /// Opens the databases of `namespaces` that exist, so that they become known. No transaction may be open on this
  /// thread.
  ///
  /// LMDB demands that no two transactions open databases at once, and that the transaction which did ends before
  /// another one uses the handle: hence a transaction of its own, behind a lock.
  func learnDatabases(_ namespaces: [LMDBNamespace]) throws(StorageError) {
    try databaseOpening.withLock { _ throws(StorageError) in
      let transaction = try beginReading()
      defer {
        transaction.abort()
        gate.leave()
      }
      var opened: [LMDBDatabase] = []
      for namespace in namespaces where !knownDatabases.contains(where: { $0.namespace == namespace }) {
        guard let handle = try transaction.openDatabase(namespace.name) else { continue }
        opened.append(LMDBDatabase(namespace: namespace, handle: handle))
      }
      try transaction.commit()
      databases.withLock { $0 += opened }
    }
  }

  /// Calls `body` with the databases that `transaction` can use, and commits. Ends the transaction in every case.
  ///
  /// - Parameter namespaces: those that `body` needs. Other transactions learn of new ones after the commit.
  func withDatabases(
    _ namespaces: [LMDBNamespaceUse], in transaction: LMDBTransaction,
    _ body: ([LMDBDatabase]) throws(StorageError) -> Void
  ) throws(StorageError) {
    defer { transaction.abort() }
    let known = knownDatabases
    if namespaces.allSatisfy({ use in known.contains { $0.namespace == use.namespace } }) {
      try body(known)
      return try transaction.commit()
    }
    try databaseOpening.withLock { _ throws(StorageError) in
      defer { transaction.abort() }  // Before the lock is let go: LMDB's table of handles is settled only then.
      var all = knownDatabases
      for use in namespaces where !all.contains(where: { $0.namespace == use.namespace }) {
        guard let handle = try transaction.openDatabase(use.namespace.name, create: use.creates) else { continue }
        all.append(LMDBDatabase(namespace: use.namespace, handle: handle))
      }
      try body(all)
      try transaction.commit()
      databases.withLock { $0 = all }
    }
  }

  /// Begins a transaction for writing, inside the gate. Blocks while another writer is at work.
  ///
  /// What a commit waits for is a property of the environment, but handles on it may want different things. It is set
  /// here because the transaction just begun is the only one for writing: nobody else sets it, or reads it.
  func beginWriting(_ durability: Durability) throws(StorageError) -> LMDBTransaction {
    let transaction = try LMDBTransaction(self, flags: 0)
    let all = UInt32(MDB_NOSYNC | MDB_NOMETASYNC)
    mdb_env_set_flags(pointer, all & ~durability.commitFlags, 0)
    mdb_env_set_flags(pointer, durability.commitFlags, 1)
    return transaction
  }

  /// Enters the gate and begins a transaction for reading. The caller leaves the gate at the end.
  func beginReading() throws(StorageError) -> LMDBTransaction {
    while true {
      gate.enter()
      do {
        return try LMDBTransaction(self, flags: MDB_RDONLY)
      } catch {
        gate.leave()
        guard error.lmdbStatus == MDB_MAP_RESIZED else { throw error }
        try adoptMapSize()
      }
    }
  }
}
