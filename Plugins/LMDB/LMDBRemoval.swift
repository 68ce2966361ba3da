internal import Glibc
internal import StorageSPI

/// Removes stores, whatever their state. It writes nothing, so it works on a full disk.
enum LMDBRemoval {
  /// Removes the data file of the store in the folder `path`; the lock file stays, emptied. No environment of the store
  /// may be open in this process.
  static func run(_ path: String) throws(CacheError) {
    let data = LMDBFile.data(in: path)
    guard LMDBFile.status(data) != nil else { return }
    let lock = try LMDBExclusiveLock(path)
    // A folder, or a file that cannot be mapped, is not a store of a later version.
    if let file = try? LMDBDataFile(readingIfPresentIn: path) { try LMDBSalvage(file).requireKnownFormat(path) }
    // The next process creates a new store, and must not mistake these locks for that store's.
    guard ftruncate(lock.descriptor, 0) == 0 else { throw .lmdb(errno, "empty", path: path) }
    guard unlink(data) != 0, errno != ENOENT else { return }
    guard errno == EISDIR || errno == EPERM else { throw .lmdb(errno, "remove", path: path) }
    guard rmdir(data) == 0 else {
      throw CacheError(.ioFailed, "\(data) is a folder with something in it", hint: "move it away")
    }
  }
}
