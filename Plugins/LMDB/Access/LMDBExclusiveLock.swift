internal import CLMDB
internal import Platform
internal import StorageSPI

/// An exclusive hold on the lock that every process shares while it has the store open: no process has it open, and one
/// that opens it waits.
///
/// It is LMDB's own lock: the first byte of the lock file, locked with `fcntl`. A process loses it when it closes any
/// descriptor of the file, so no environment of the store may be open in this one.
struct LMDBExclusiveLock: ~Copyable {
  let descriptor: Int32

  /// - Throws: `busy` where another process has the store open.
  init(_ path: String) throws(CacheError) {
    let descriptor = open(LMDBFile.lock(in: path), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .lmdb(errno, "repair", path: path) }
    try self.init(locking: descriptor, path)
  }

  /// The lock, without creating its file. It is `nil` if the file does not exist or is read-only: then no process of
  /// this user can have the store open for writing.
  init?(ifPossible path: String) throws(CacheError) {
    let descriptor = open(LMDBFile.lock(in: path), O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    try self.init(locking: descriptor, path)
  }

  private init(locking descriptor: Int32, _ path: String) throws(CacheError) {
    var region = flock()
    region.l_type = Int16(F_WRLCK)
    region.l_whence = Int16(SEEK_SET)
    region.l_len = 1
    guard fcntl(descriptor, F_SETLK, &region) == 0 else {
      let status = errno
      close(descriptor)
      throw status == EACCES || status == EAGAIN ? .lmdbStoreInUse(path) : .lmdb(status, "repair", path: path)
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }
}
