internal import CCrashNotice
internal import CLMDB
internal import EngineSupport
internal import Platform
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
  private let notice: Int32

  private let databases = Mutex<[LMDBDatabase]>([])
  /// The tally's summary after this process's last transaction that changed entries; `nil` while one is running.
  private let summary = Mutex<LMDBSummary?>(nil)
  private let databaseOpening = Mutex<Void>(())
  /// The number of the latest transaction that a reader of this process has seen.
  private let confirmed = Atomic<UInt64>(0)
  private let whenClosed: @Sendable (LMDBFileIdentity) -> Void

  /// Opens the store in the folder `path`, which `LMDBDataFile` has checked.
  ///
  /// If the files are read-only, it opens the store for reading only. If not even the reader table can be written, it
  /// opens without one, which is safe as long as no one else writes.
  ///
  /// - Parameter attempts: the flags to try in turn, each after the previous ones were refused.
  init(
    path: String, mapSize: Int, keyCoding: LMDBKeyCoding = LMDBKeyCoding(),
    snapshots: SnapshotKeeper = SnapshotKeeper(),
    attempts: [Int32] = [0, MDB_RDONLY, MDB_RDONLY | MDB_NOLOCK],
    whenClosed: @escaping @Sendable (LMDBFileIdentity) -> Void = { _ in }
  ) throws(CacheError) {
    (pointer, identity, isReadOnly) = try Self.open(path, mapSize, attempts)
    self.path = path
    self.keyCoding = keyCoding
    self.snapshots = snapshots
    self.whenClosed = whenClosed
    var descriptor: mdb_filehandle_t = -1
    mdb_env_get_fd(pointer, &descriptor)
    notice = ccrash_add(descriptor, path, "lmdb", EngineConfiguration.crashMark(ofStore: path))
    mdb_env_set_userctx(pointer, UnsafeMutableRawPointer(bitPattern: Int(notice) + 1))
    // LMDB ends the process if this returns.
    mdb_env_set_assert(pointer) { pointer, _ in
      ccrash_end(Int32(Int(bitPattern: mdb_env_get_userctx(pointer))) - 1)
    }
  }

  deinit {
    ccrash_remove(notice)
    mdb_env_close(pointer)
    whenClosed(identity)
  }

  private static func open(
    _ path: String, _ mapSize: Int, _ attempts: [Int32]
  ) throws(CacheError) -> (pointer: OpaquePointer, identity: LMDBFileIdentity, isReadOnly: Bool) {
    for flags in attempts {
      if flags & MDB_NOLOCK == 0 { try LMDBFile.reserveLocks(in: path) }
      var pointer: OpaquePointer?
      var status = mdb_env_create(&pointer)
      guard let pointer, status == MDB_SUCCESS else { throw .lmdb(status, "open", path: path) }
      mdb_env_set_mapsize(pointer, (mapSize + mapGranularity - 1) / mapGranularity * mapGranularity)
      mdb_env_set_maxdbs(pointer, MDB_dbi(maximumNamespaces))
      mdb_env_set_maxreaders(pointer, maximumReaders)
      status = mdb_env_open(pointer, path, UInt32(flags | MDB_NOTLS), 0o600)
      var file = stat()
      var descriptor: mdb_filehandle_t = -1
      if status == MDB_SUCCESS, mdb_env_get_fd(pointer, &descriptor) == MDB_SUCCESS, fstat(descriptor, &file) == 0 {
        return (pointer, LMDBFileIdentity(file), flags != 0)
      }
      mdb_env_close(pointer)
      // It waited for the locks while another process removed the store, which empties them.
      if status == EINVAL, LMDBFile.status(LMDBFile.lock(in: path))?.st_size == 0 { throw .lmdbStoreReplaced(path) }
      guard [EACCES, EPERM, EROFS].contains(status) else { throw .lmdb(status, "open", path: path) }
    }
    throw .lmdb(EACCES, "open", path: path)
  }

  /// Whether the store's file is mapped at `address`. Cost: reads the process's list of mappings.
  func maps(_ address: UnsafeRawPointer) -> Bool { notice >= 0 && ccrash_find(address) == notice }

  /// The `CacheError` for an LMDB status.
  func error(_ status: Int32, _ action: String) -> CacheError { .lmdb(status, action, path: path) }

  /// The databases whose handles are known. Transactions that begin from now on can use these and no others. The list
  /// only ever grows.
  var knownDatabases: [LMDBDatabase] { databases.withLock { $0 } }

  /// Takes the last summary, so that the caller can change it without the allocation that a copy would cost.
  func takeSummary() -> LMDBSummary? { summary.withLock { $0.take() } }

  /// Keeps the summary for the transaction that it names.
  func keepSummary(_ latest: LMDBSummary) { summary.withLock { $0 = latest } }

  /// Makes LMDB order the names of databases by their bytes, and checks the version of the format. LMDB sets the order
  /// only when a database is opened by name, and looking for a name before that ends the process.
  ///
  /// - Throws: `unsupportedFormat`, `damaged`; `busy` if the lock file belongs to another data file, which this one has
  ///   replaced and which another process still has open. The lock file says which transaction was last, and LMDB chooses
  ///   the meta page by it.
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
    _ = try transaction.summary()
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

/// The size of the memory map, which is address space rather than memory or disk. It only ever grows.
///
/// LMDB requires that no transaction of this process is open when the size is set. Readers are taken from their pool
/// and returned to it inside the gate. So a thread that is alone in the gate finds all of them idle, and ends those
/// that kept their snapshot.
extension LMDBEnvironment {
  /// The size of the map is rounded up to a multiple of this.
  static let mapGranularity = 1_048_576

  /// Runs `work`; the caller is inside the gate and has no transaction open. If another process has written beyond the
  /// map, this leaves the gate to enlarge the map, and runs `work` again.
  func adoptingMapSize<Output>(_ work: () throws(CacheError) -> Output) throws(CacheError) -> Output {
    while true {
      do { return try work() } catch {
        guard error.lmdbStatus == MDB_MAP_RESIZED else { throw error }
        gate.leave()
        defer { gate.enter() }
        try adoptMapSize()
      }
    }
  }

  /// Enlarges the map to hold what another process has written beyond it, unless another thread already has.
  private func adoptMapSize() throws(CacheError) {
    try gate.alone { () throws(CacheError) in
      let (size, used) = Self.mapUse(of: pointer)
      if used > size { try enlarge(from: size, toHold: used, "map") }
    }
  }

  /// Runs `work`, which writes about `bytes` bytes, inside the gate. If the map is too small, it grows and `work`
  /// starts again from the beginning. If that is foreseeable, the map grows beforehand.
  func growing<Output>(
    for bytes: Int, _ work: () throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    while true {
      gate.enter()
      let (size, used) = Self.mapUse(of: pointer)
      let status: Int32?
      do throws(CacheError) {
        defer { gate.leave() }
        if used + bytes <= size { return try work() }
        status = nil
      } catch {
        status = error.lmdbStatus
        guard status == MDB_MAP_RESIZED || status == MDB_MAP_FULL else { throw error }
      }
      switch status {
      case MDB_MAP_RESIZED: try adoptMapSize()
      case MDB_MAP_FULL: try grow(from: size, toHold: size + bytes)
      default: try grow(from: size, toHold: used + bytes)
      }
    }
  }

  /// At least doubles the map, unless another thread already has.
  ///
  /// It first clears the readers of crashed processes, which stop freed pages from being reused.
  private func grow(from size: Int, toHold bytes: Int) throws(CacheError) {
    mdb_reader_check(pointer, nil)
    try gate.alone { () throws(CacheError) in
      if Self.mapUse(of: pointer).size == size { try enlarge(from: size, toHold: bytes, "grow the map of") }
    }
  }

  /// At least doubles the map. No other thread is inside the gate.
  ///
  /// LMDB gives up its map before it asks for a new one. If it got none, the next call would end the process; so this
  /// reserves the addresses beforehand.
  private func enlarge(from size: Int, toHold bytes: Int, _ action: String) throws(CacheError) {
    snapshots.endIdle()
    let wanted = max(size * 2, bytes + bytes / 4)
    let rounded = (wanted / Self.mapGranularity + 1) * Self.mapGranularity
    let room = mmap(nil, rounded, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    guard let room, room != MAP_FAILED else { throw error(errno, action) }
    munmap(room, rounded)
    let status = mdb_env_set_mapsize(pointer, rounded)
    guard status == MDB_SUCCESS else { throw error(status, action) }
  }

  /// The size of the map, and how much of it is in use or free for reuse, in bytes. It reads the map, so the caller
  /// must be inside the gate.
  static func mapUse(of pointer: OpaquePointer) -> (size: Int, used: Int) {
    var (info, stat) = (MDB_envinfo(), MDB_stat())
    mdb_env_info(pointer, &info)
    mdb_env_stat(pointer, &stat)
    return (info.me_mapsize, (info.me_last_pgno + 1) * Int(stat.ms_psize))
  }
}
