internal import Glibc
internal import StorageSPI

/// Removes stores, in whatever state they are. Nothing is written, so that it works on a full disk.
enum LMDBRemoval {
  /// Removes the data file of the store in the folder `path`; the file of locks stays, emptied. No environment of the
  /// store may be open in this process.
  static func run(_ path: String) throws(StorageError) {
    let data = LMDBFile.data(in: path)
    guard LMDBFile.status(data) != nil else { return }
    let lock = try LMDBExclusiveLock(path)
    // What is a folder, or cannot be mapped, is no store of a later version.
    if let file = try? LMDBDataFile(readingIfPresentIn: path) { try LMDBSalvage(file).requireKnownFormat(path) }
    // The next process makes a new store, and must not take these locks for its own.
    guard ftruncate(lock.descriptor, 0) == 0 else { throw .lmdb(errno, "empty", path: path) }
    guard unlink(data) != 0, errno != ENOENT else { return }
    guard errno == EISDIR || errno == EPERM else { throw .lmdb(errno, "remove", path: path) }
    guard rmdir(data) == 0 else {
      throw StorageError(.ioFailed, "\(data) is a folder with something in it", hint: "move it away")
    }
  }
}
