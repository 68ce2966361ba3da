internal import CLMDB
internal import EngineSupport
internal import Platform
internal import StorageSPI

/// Creates new stores so that the data file appears whole or not at all. LMDB itself creates the file first and then
/// fills it, so an empty file could be an interrupted creation, or a store that something has emptied.
enum LMDBCreation {
  /// Creates an empty store in `folder`, which must exist, unless another process has just created one.
  ///
  /// It creates the mark first. Then it creates the data file in a folder of its own, and links it into place once it is
  /// complete and on disk.
  ///
  /// - Throws: `cannotCreate`, `noSpace`.
  static func makeStore(in folder: String) throws(CacheError) {
    do throws(CacheError) {
      try StoreMark(inFolder: folder).create()
    } catch {
      throw error.code == .permissionDenied ? LMDBFile.cannotCreate(folder, EACCES) : error
    }
    // Two containers may share the folder, and give their processes the same numbers.
    let space = SmallFile.target("/proc/self/ns/pid")?.filter(\.isNumber) ?? ""
    let scratch = "\(folder)/new-\(space)-\(getpid())"
    removeFolder(scratch)
    defer { removeFolder(scratch) }
    guard mkdir(scratch, 0o700) == 0 else { throw LMDBFile.cannotCreate(folder, errno) }
    let status = makeFiles(in: scratch)
    guard status == MDB_SUCCESS else { throw LMDBFile.cannotCreate(folder, status) }
    guard link(LMDBFile.data(in: scratch), LMDBFile.data(in: folder)) == 0 || errno == EEXIST else {
      throw LMDBFile.cannotCreate(folder, errno)
    }
  }

  private static func makeFiles(in folder: String) -> Int32 {
    var pointer: OpaquePointer?
    let status = mdb_env_create(&pointer)
    guard let pointer, status == MDB_SUCCESS else { return status }
    defer { mdb_env_close(pointer) }
    // Without locks: no other process knows of it, and the disk may have no room for them.
    let opening = mdb_env_open(pointer, folder, UInt32(MDB_NOLOCK), 0o600)
    guard opening == MDB_SUCCESS else { return opening }
    let writing = writeSummary(pointer)
    return writing == MDB_SUCCESS ? mdb_env_sync(pointer, 1) : writing
  }

  /// Makes it a store of the current format, with an empty tally.
  private static func writeSummary(_ environment: OpaquePointer) -> Int32 {
    var (transaction, database) = (nil as OpaquePointer?, MDB_dbi(0))
    var status = mdb_txn_begin(environment, nil, 0, &transaction)
    guard let transaction, status == MDB_SUCCESS else { return status }
    status = mdb_dbi_open(transaction, nil, 0, &database)
    guard status == MDB_SUCCESS else {
      mdb_txn_abort(transaction)
      return status
    }
    status = put(LMDBSummary(transaction: mdb_txn_id(transaction)), transaction, database)
    guard status == MDB_SUCCESS else {
      mdb_txn_abort(transaction)
      return status
    }
    return mdb_txn_commit(transaction)
  }

  private static func put(_ summary: LMDBSummary, _ transaction: OpaquePointer, _ database: MDB_dbi) -> Int32 {
    var key = LMDBSummary.key
    return key.withUnsafeMutableBytes { key in
      var name = MDB_val(mv_size: key.count, mv_data: key.baseAddress)
      var value = MDB_val(mv_size: summary.size, mv_data: nil)
      let status = mdb_put(transaction, database, &name, &value, UInt32(MDB_RESERVE))
      guard status == MDB_SUCCESS else { return status }
      summary.write(to: UnsafeMutableRawBufferPointer(start: value.mv_data, count: value.mv_size))
      return status
    }
  }

  /// Also removes what a process with the same number left behind when it died here.
  private static func removeFolder(_ folder: String) {
    unlink(LMDBFile.data(in: folder))
    unlink(LMDBFile.lock(in: folder))
    rmdir(folder)
  }
}
