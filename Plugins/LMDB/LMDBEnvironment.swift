internal import CCrashNotice
internal import CLMDB
internal import EngineAPI
internal import CacheBase
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
  /// The handle of the database of free pages, a constant of LMDB.
  static let freeList: MDB_dbi = 0

  let files: LMDBFiles
  let pointer: OpaquePointer
  let isReadOnly: Bool
  /// The open data file, and the size of its pages.
  let descriptor: Int32
  let pageSize: Int
  /// Identifies the file, by device and inode.
  let identity: FileStatus.Identity
  let gate: LMDBGate
  /// Ends the transactions that idle readers of all handles keep open.
  let snapshots: SnapshotKeeper
  /// Runs commits that wait for the disk.
  let writing = BlockingExecutor()
  /// Runs checks of the whole store, which might have to read all of it from disk.
  let checking = BlockingExecutor()

  /// The databases whose handles are known. Transactions that begin from now on can use these and no others. The list
  /// only ever grows.
  let databases = Mutex<[LMDBDatabase]>([])
  /// Held by a thread that can open databases, inside the gate, from before its transaction begins until it has ended: LMDB
  /// would give two transactions the same handle. So a writer holds it, and readers wait only for a namespace that another
  /// process has created.
  let databaseOpening = Mutex<Void>(())
  /// The count after this process's last transaction that changed entries; `nil` while one is running.
  let countRecord = Mutex<LMDBCountRecord?>(nil)
  /// The number of the latest transaction that a reader of this process has seen.
  private let confirmed = Atomic<UInt64>(0)
  private let whenClosed: @Sendable (FileStatus.Identity) -> Void

  /// Opens the store in the directory `path`, which `LMDBDataFile` has checked.
  ///
  /// If the files are read-only, it opens the store for reading only. If not even the reader table can be written, it
  /// opens without one, which is safe as long as no one else writes.
  ///
  /// - Parameter attempts: the flags to try in turn, each after the previous ones were refused.
  /// - Throws: `CacheError`: `busy` if the lock file belongs to another data file, which this one has replaced and which
  ///   another process still has open. The lock file says which transaction was last, and LMDB chooses the meta page by
  ///   it. `damaged` if the file is cut off.
  init(
    path: String, mapSize: Int, snapshots: SnapshotKeeper = SnapshotKeeper(),
    attempts: [Int32] = [0, MDB_RDONLY, MDB_RDONLY | MDB_NOLOCK],
    whenClosed: @escaping @Sendable (FileStatus.Identity) -> Void = { _ in }
  ) throws(CacheError) {
    files = LMDBFiles(path)
    let flags: Int32
    (pointer, flags) = try Self.open(files, mapSize, attempts)
    isReadOnly = flags != 0
    var descriptor: mdb_filehandle_t = -1
    mdb_env_get_fd(pointer, &descriptor)
    self.descriptor = descriptor
    var pages = MDB_stat()
    mdb_env_stat(pointer, &pages)
    pageSize = Int(pages.ms_psize)
    var file = stat()
    fstat(descriptor, &file)
    identity = FileStatus.Identity(file)
    self.snapshots = snapshots
    self.whenClosed = whenClosed
    let notice = ccrash_add(descriptor, path, "lmdb", EngineConfiguration.crashMark(ofStore: path))
    gate = LMDBGate(notice: notice)
    mdb_env_set_userctx(pointer, UnsafeMutableRawPointer(bitPattern: Int(notice) + 1))
    // LMDB ends the process if this returns.
    mdb_env_set_assert(pointer) { pointer, _ in
      ccrash_end(Int32(Int(bitPattern: mdb_env_get_userctx(pointer))) - 1)
    }
    if Int(file.st_size) < mapUse.used { try requireWholeFile() }
    gate.enter()
    defer { gate.leave() }
    // LMDB creates the data file, and without a mark, if another process has removed the store a moment ago. If this fails,
    // the directory is not writable, and the file is none of these.
    if !isReadOnly, latestTransaction == 0 { try? StoreMark(inFolder: path).create() }
    try learnDatabases()
  }

  deinit {
    ccrash_remove(gate.notice)
    mdb_env_close(pointer)
    whenClosed(identity)
  }

  private static func open(
    _ files: LMDBFiles, _ mapSize: Int, _ attempts: [Int32]
  ) throws(CacheError) -> (pointer: OpaquePointer, flags: Int32) {
    let path = files.directory
    for flags in attempts {
      if flags & MDB_NOLOCK == 0 { try files.reserveLocks() }
      var pointer: OpaquePointer?
      var status = mdb_env_create(&pointer)
      guard let pointer, status == MDB_SUCCESS else { throw .lmdb(status, "open", path: path) }
      mdb_env_set_mapsize(pointer, (mapSize + mapGranularity - 1) / mapGranularity * mapGranularity)
      mdb_env_set_maxdbs(pointer, MDB_dbi(maximumNamespaces))
      mdb_env_set_maxreaders(pointer, maximumReaders)
      status = mdb_env_open(pointer, path, UInt32(flags | MDB_NOTLS), 0o600)
      if status == MDB_SUCCESS { return (pointer, flags) }
      mdb_env_close(pointer)
      // It waited for the locks while another process removed the store, which empties them.
      if status == EINVAL, (try? LMDBFiles.system.status(of: files.lock))?.size == 0 { throw .lmdbStoreReplaced(path) }
      guard [EACCES, EPERM, EROFS].contains(status) else { throw .lmdb(status, "open", path: path) }
    }
    throw .lmdb(EACCES, "open", path: path)
  }

  /// The `CacheError` for an LMDB status.
  func error(_ status: Int32, _ action: String) -> CacheError { .lmdb(status, action, path: files.directory) }

  /// Throws the `CacheError` for an LMDB status, unless it is a success.
  @inline(__always)
  func check(_ status: Int32, _ action: String) throws(CacheError) {
    if status != MDB_SUCCESS { throw error(status, action) }
  }

  /// Throws `damaged` if the file is cut off.
  ///
  /// LMDB does not write the last pages of a file if the transaction that took them has freed them again. So if the file is
  /// shorter than its meta page says, the list of free pages must name every missing page. If that list is cut off itself,
  /// it is like any damaged page, which can end the process.
  func requireWholeFile() throws(CacheError) {
    gate.enter()
    defer { gate.leave() }
    // In this order, because other processes can extend the file meanwhile.
    let pages = mapUse.used / pageSize
    let transaction = try growingMap { () throws(CacheError) in try LMDBTransaction(self, flags: MDB_RDONLY) }
    defer { transaction.abort() }
    var file = stat()
    fstat(descriptor, &file)
    let missing = min(Int(file.st_size) / pageSize, pages)..<pages
    let free = try transaction.freePages(freedBefore: .max).reduce(0) { $0 + $1.clamped(to: missing).count }
    guard free == missing.count else { throw .damagedLMDB(files.data, "it is cut off") }
  }

  /// Opens the databases of all namespaces, so that their handles become known. The caller is inside the gate and has no
  /// transaction open.
  ///
  /// This also makes LMDB order the names of databases by their bytes: it sets the order only when the main database is
  /// opened, and looking for a name before that ends the process.
  func learnDatabases() throws(CacheError) {
    try growingMap { () throws(CacheError) in
      try databaseOpening.withLock { _ throws(CacheError) in
        let latest = latestTransaction
        let transaction = try LMDBTransaction(self, flags: MDB_RDONLY)
        defer { transaction.abort() }  // Before the lock is let go.
        // A commit writes the number to its meta page before the lock file.
        let number = UInt64(bitPattern: Int64(transaction.number))
        guard number + 1 >= latest, number <= latestTransaction else { throw .lmdbStoreReplaced(files.directory) }
        _ = try transaction.openDatabase(nil)
        var known = databases.withLock { $0 }
        for namespace in try transaction.namespaces() where !known.contains(where: { $0.namespace == namespace }) {
          guard let handle = try transaction.openDatabase(namespace.name) else { continue }
          known.append(LMDBDatabase(namespace: namespace, handle: handle))
        }
        try transaction.commit()
        databases.withLock { $0 = known }
      }
    }
  }

  /// Begins a write transaction, inside the gate. Blocks while another writer is active.
  ///
  /// First ends the transactions that idle readers keep open, so that the writer can reuse the pages they saw.
  ///
  /// What a commit waits for is a property of the environment, but its handles might want different durabilities. This
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

  /// Does what a reader's `withDatabases` does, with a reader for this one call, inside the gate.
  func withDatabases<Output>(
    _ body: (LMDBTransaction, [LMDBDatabase]) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    gate.enter()
    defer { gate.leave() }
    return try LMDBReader(self).withDatabases(body)
  }
}

/// The gate of an environment. A crash of a thread that is inside is put down to the store.
struct LMDBGate: Sendable {
  private let gate = Gate()
  /// The number of the store among those that a crash of the process names.
  let notice: Int32

  init(notice: Int32) { self.notice = notice }

  @inline(__always) func enter() {
    gate.enter()
    ccrash_enter(notice)
  }

  @inline(__always) func leave() {
    ccrash_leave()
    gate.leave()
  }

  func alone<Output>(_ body: () throws(CacheError) -> Output) throws(CacheError) -> Output { try gate.alone(body) }
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

  /// Runs `work`; the caller is inside the gate and has no transaction open. If the map is too small for what this process
  /// writes, or for what another one has written, this leaves the gate to enlarge the map, and runs `work` again.
  func growingMap<Output>(_ work: () throws(CacheError) -> Output) throws(CacheError) -> Output {
    while true {
      do throws(CacheError) { return try work() } catch {
        guard error.lmdbStatus == MDB_MAP_FULL || error.lmdbStatus == MDB_MAP_RESIZED else { throw error }
        let (size, used) = mapUse
        gate.leave()
        defer { gate.enter() }
        // Readers of crashed processes stop freed pages from being reused.
        mdb_reader_check(pointer, nil)
        try enlargeMap(from: size, to: max(size * 2, used + used / 4))
      }
    }
  }

  /// Enlarges the map, unless another thread already has. The caller is not inside the gate.
  ///
  /// LMDB gives up its map before it asks for a new one. If it got none, the next call would end the process; so this
  /// reserves the addresses beforehand.
  func enlargeMap(from size: Int, to wanted: Int) throws(CacheError) {
    try gate.alone { () throws(CacheError) in
      guard mapUse.size == size else { return }
      snapshots.endIdle()
      let rounded = (wanted / Self.mapGranularity + 1) * Self.mapGranularity
      let room = mmap(nil, rounded, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
      guard let room, room != MAP_FAILED else { throw error(errno, "grow the map of") }
      munmap(room, rounded)
      try check(mdb_env_set_mapsize(pointer, rounded), "grow the map of")
    }
  }

  /// The size of the map, and how much of it is in use or free for reuse, in bytes. It reads the map, so the caller
  /// must be inside the gate.
  var mapUse: (size: Int, used: Int) {
    var info = MDB_envinfo()
    mdb_env_info(pointer, &info)
    return (info.me_mapsize, (info.me_last_pgno + 1) * pageSize)
  }
}
