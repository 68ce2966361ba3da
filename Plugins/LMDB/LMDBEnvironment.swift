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
  /// Ends the transactions that idle readers keep open, of all handles.
  let snapshots: SnapshotKeeper
  /// Where commits wait for the disk.
  let writing = BlockingExecutor()
  /// Where checks of the whole store run, which may have to read all of it from the disk.
  let checking = BlockingExecutor()

  private let databases = Mutex<[LMDBDatabase]>([])
  /// The tally's summary after the last transaction of this process that changed entries; `nil` while one is at work.
  private let summary = Mutex<LMDBSummary?>(nil)
  private let databaseOpening = Mutex<Void>(())
  /// The number of the latest transaction that a reader of this process has seen.
  private let confirmed = Atomic<UInt64>(0)
  private let whenClosed: @Sendable (LMDBFileIdentity) -> Void

  init(
    _ opened: consuming LMDBOpenedEnvironment, path: String, keyCoding: LMDBKeyCoding,
    snapshots: SnapshotKeeper = SnapshotKeeper(),
    whenClosed: @escaping @Sendable (LMDBFileIdentity) -> Void
  ) {
    self.path = path
    self.identity = opened.state.identity
    self.isReadOnly = opened.isReadOnly
    self.pointer = opened.release()
    self.keyCoding = keyCoding
    self.snapshots = snapshots
    self.whenClosed = whenClosed
  }

  deinit {
    mdb_env_close(pointer)
    whenClosed(identity)
  }

  /// What the status means here.
  func error(_ status: Int32, _ action: String) -> StorageError { .lmdb(status, action, path: path) }

  /// The databases whose handles are known, which transactions begun from now on can use, and no others. There only ever
  /// come more.
  var knownDatabases: [LMDBDatabase] { databases.withLock { $0 } }

  /// The summary last kept, which is the caller's to change: a copy of it would cost an allocation.
  func takeSummary() -> LMDBSummary? { summary.withLock { $0.take() } }

  /// Keeps the summary of the transaction that it names.
  func keepSummary(_ latest: LMDBSummary) { summary.withLock { $0 = latest } }

  /// Tells LMDB to order the names of databases by their bytes. It does so by itself only when one is opened by name; to
  /// look for a name before that ends the process.
  ///
  /// - Throws: `busy` where the file of locks belongs to another data file, which was in this one's place and which
  ///   somebody still has open: it tells the number of the last transaction, by which LMDB chooses the meta page.
  func openMainDatabase() throws(StorageError) {
    gate.enter()
    defer { gate.leave() }
    let latest = latestTransaction
    let transaction = try beginReading()
    defer { transaction.abort() }
    // A commit writes the number to its meta page first, and tells it then.
    let number = UInt64(bitPattern: Int64(transaction.number))
    guard number + 1 >= latest, number <= latestTransaction else { throw .lmdbStoreReplaced(path) }
    _ = try transaction.openDatabase(nil)
    try transaction.commit()
  }

  /// Opens the databases of `namespaces` that exist, so that they become known. The caller is inside the gate, and has
  /// no transaction open.
  ///
  /// LMDB demands that no two transactions open databases at once, and that the transaction which did ends before
  /// another one uses the handle: hence a transaction of its own, behind a lock.
  func learnDatabases(_ namespaces: [LMDBNamespace]) throws(StorageError) {
    try adoptingMapSize { () throws(StorageError) in
      try databaseOpening.withLock { _ throws(StorageError) in
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

  /// Calls `body` with the databases that `transaction`, one for writing, can use, and commits. Ends the transaction in
  /// every case.
  ///
  /// LMDB would give the handle of a database that another transaction has opened since this one began to the next one
  /// that this one opens: then nothing is done.
  ///
  /// - Parameters:
  ///   - known: the databases whose handles were known before the transaction began.
  ///   - needed: namespaces that `body` needs besides, at most. Other transactions learn of them after the commit.
  /// - Returns: whether it was done; where it was not, a new transaction knows more.
  func withDatabases(
    _ known: [LMDBDatabase], and needed: [LMDBNamespaceUse], in transaction: LMDBTransaction,
    _ body: ([LMDBDatabase]) throws(StorageError) -> Void
  ) throws(StorageError) -> Bool {
    defer { transaction.abort() }
    if needed.allSatisfy({ use in known.contains { $0.namespace == use.namespace } }) {
      try body(known)
      try transaction.commit()
      return true
    }
    return try databaseOpening.withLock { _ throws(StorageError) in
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

  /// Begins a transaction for writing, inside the gate. Blocks while another writer is at work.
  ///
  /// The transactions that idle readers keep open end before: the writer then uses again what they saw.
  ///
  /// What a commit waits for is a property of the environment, but handles on it may want different things. It is set
  /// here because the transaction just begun is the only one for writing: nobody else sets it, or reads it.
  func beginWriting(_ durability: Durability) throws(StorageError) -> LMDBTransaction {
    snapshots.endIdle()
    let transaction = try LMDBTransaction(self, flags: 0)
    let all = UInt32(MDB_NOSYNC | MDB_NOMETASYNC)
    mdb_env_set_flags(pointer, all & ~durability.commitFlags, 0)
    mdb_env_set_flags(pointer, durability.commitFlags, 1)
    return transaction
  }

  /// Begins a transaction for reading, inside the gate.
  func beginReading() throws(StorageError) -> LMDBTransaction {
    try adoptingMapSize { () throws(StorageError) in try LMDBTransaction(self, flags: MDB_RDONLY) }
  }

  /// Lends a reader of its own to `body`, inside the gate.
  func withReader<Output>(
    _ body: (LMDBReader) throws(StorageError) -> Output
  ) throws(StorageError) -> Output {
    gate.enter()
    defer { gate.leave() }
    return try body(try LMDBReader(self))
  }

  /// Does what a reader's `withSnapshot` does, with one of its own.
  func withSnapshot<Output>(
    of isWanted: (String) -> Bool,
    _ body: (LMDBTransaction, [LMDBDatabase]) throws(StorageError) -> Output
  ) throws(StorageError) -> Output {
    try withReader { reader throws(StorageError) in try reader.withSnapshot(of: isWanted, body) }
  }
}

/// Which state of the store is the latest: a transaction's number.
extension LMDBEnvironment {
  /// The number of the last transaction that was committed, by any process, as the meta pages have it. The caller is
  /// inside the gate.
  var latestTransaction: UInt64 {
    var info = MDB_envinfo()
    mdb_env_info(pointer, &info)
    return UInt64(bitPattern: Int64(info.me_last_txnid))
  }

  /// Notes that a reader sees the state of the transaction `number`.
  func confirm(_ number: UInt64) {
    if confirmed.load(ordering: .relaxed) < number { confirmed.max(number, ordering: .releasing) }
  }

  /// The number of the last transaction, where every reader from now on sees its state or a later one; otherwise `nil`.
  /// The caller is inside the gate.
  ///
  /// A commit writes the meta page first, and tells readers of it then: in between, or for longer where it died there,
  /// a reader still sees the state before. So only a number counts that a reader has seen.
  var changeCount: UInt64? {
    let latest = latestTransaction
    return latest <= confirmed.load(ordering: .acquiring) ? latest : nil
  }
}
