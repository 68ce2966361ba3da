internal import CLMDB
internal import Glibc
internal import StorageSPI

/// An LMDB environment just opened, which is closed again unless somebody takes it over.
struct LMDBOpenedEnvironment: ~Copyable {
  private let pointer: OpaquePointer
  /// The data file as it was after the opening.
  let state: LMDBSoundFiles.State
  let isReadOnly: Bool

  /// Opens the store in the folder `path`, and makes it first where there is none.
  ///
  /// Where the files may only be read, it is opened for reading only; where not even the table of readers may be
  /// written, without one, which is safe as long as nobody else writes.
  ///
  /// - Parameters:
  ///   - isSound: whether the data file is there and known to be sound.
  ///   - reservesLocks: whether room is made for the file of locks, unless the caller, who has it open, has done so.
  ///   - attempts: the flags to try, one after another, each where the one before was refused.
  init(
    path: String, mapSize: Int, isSound: Bool = false, reservesLocks: Bool = true,
    attempts: [Int32] = [0, MDB_RDONLY, MDB_RDONLY | MDB_NOLOCK]
  ) throws(StorageError) {
    if !isSound {
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

  /// The environment, which is now the caller's to close.
  consuming func release() -> OpaquePointer {
    let pointer = pointer
    discard self
    return pointer
  }

  private static func mayBeReadable(_ status: Int32) -> Bool { [EACCES, EPERM, EROFS].contains(status) }

  private static func create(path: String, mapSize: Int) throws(StorageError) -> OpaquePointer {
    var pointer: OpaquePointer?
    let status = mdb_env_create(&pointer)
    guard let pointer, status == MDB_SUCCESS else { throw .lmdb(status, "open", path: path) }
    let granularity = LMDBEnvironment.mapGranularity
    mdb_env_set_mapsize(pointer, (mapSize + granularity - 1) / granularity * granularity)
    mdb_env_set_maxdbs(pointer, MDB_dbi(LMDBEnvironment.maximumNamespaces))
    mdb_env_set_maxreaders(pointer, LMDBEnvironment.maximumReaders)
    return pointer
  }

  /// Checks the two meta pages, which LMDB believes in when it opens the file.
  ///
  /// - Returns: whether there is a store.
  private static func checkDataFile(in folder: String) throws(StorageError) -> Bool {
    let path = LMDBFile.data(in: folder)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return false }
      throw .lmdb(errno, "open", path: folder)
    }
    defer { close(descriptor) }
    guard let file = LMDBMappedFile(descriptor: descriptor) else { throw .lmdb(errno, "read", path: folder) }
    do { _ = try LMDBMetaPage.both(in: file.bytes) } catch { throw .lmdb(error, in: path) }
    return true
  }
}
