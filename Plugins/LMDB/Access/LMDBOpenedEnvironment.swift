internal import CLMDB
internal import Platform
internal import StorageSPI

/// An LMDB environment that has just been opened; it is closed again unless its new owner calls `release()`.
struct LMDBOpenedEnvironment: ~Copyable {
  private let pointer: OpaquePointer
  /// The state of the data file after opening.
  let state: LMDBSoundFiles.State
  let isReadOnly: Bool

  /// Opens the store in the folder `path`, and creates it first if there is none.
  ///
  /// If the files are read-only, it opens the store for reading only. If not even the reader table can be written, it
  /// opens without one, which is safe as long as no one else writes.
  ///
  /// - Parameters:
  ///   - isSound: whether the data file exists and is known to be sound.
  ///   - reservesLocks: whether to reserve room for the lock file; `false` if the caller, which has it open, already
  ///     has.
  ///   - attempts: the flags to try in turn, each after the previous ones were refused.
  init(
    path: String, mapSize: Int, isSound: Bool = false, reservesLocks: Bool = true,
    attempts: [Int32] = [0, MDB_RDONLY, MDB_RDONLY | MDB_NOLOCK]
  ) throws(CacheError) {
    if !isSound {
      try LMDBOwnership.requireOwn(path)
      try LMDBFile.makeFolder(path)
      if try !Self.checkDataFile(in: path) { try LMDBCreation.makeStore(in: path) }
    }
    for flags in attempts {
      if reservesLocks, flags & MDB_NOLOCK == 0 { try LMDBFile.reserveLocks(in: path) }
      let pointer = try Self.create(path: path, mapSize: mapSize)
      let status = mdb_env_open(pointer, path, UInt32(flags | MDB_NOTLS), 0o600)
      var file = stat()
      var descriptor: mdb_filehandle_t = -1
      if status == MDB_SUCCESS, mdb_env_get_fd(pointer, &descriptor) == MDB_SUCCESS, fstat(descriptor, &file) == 0 {
        self.pointer = pointer
        self.state = LMDBSoundFiles.State(file)
        self.isReadOnly = flags != 0
        return
      }
      mdb_env_close(pointer)
      guard Self.mayBeReadable(status) else { throw .lmdb(status, "open", path: path) }
    }
    throw .lmdb(EACCES, "open", path: path)
  }

  deinit { mdb_env_close(pointer) }

  /// Hands the environment to the caller, which must close it.
  consuming func release() -> OpaquePointer {
    let pointer = pointer
    discard self
    return pointer
  }

  private static func mayBeReadable(_ status: Int32) -> Bool { [EACCES, EPERM, EROFS].contains(status) }

  private static func create(path: String, mapSize: Int) throws(CacheError) -> OpaquePointer {
    var pointer: OpaquePointer?
    let status = mdb_env_create(&pointer)
    guard let pointer, status == MDB_SUCCESS else { throw .lmdb(status, "open", path: path) }
    let granularity = LMDBEnvironment.mapGranularity
    mdb_env_set_mapsize(pointer, (mapSize + granularity - 1) / granularity * granularity)
    mdb_env_set_maxdbs(pointer, MDB_dbi(LMDBEnvironment.maximumNamespaces))
    mdb_env_set_maxreaders(pointer, LMDBEnvironment.maximumReaders)
    return pointer
  }

  /// Checks the two meta pages, which LMDB trusts when it opens the file.
  ///
  /// - Returns: whether there is a store.
  private static func checkDataFile(in folder: String) throws(CacheError) -> Bool {
    guard let file = try LMDBDataFile(readingIfPresentIn: folder) else { return false }
    do { _ = try LMDBMetaPage.both(in: file.bytes) } catch { throw .lmdb(error, in: LMDBFile.data(in: folder)) }
    return true
  }
}
