#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif
internal import StorageSPI

/// The lock on a store, which excludes other handles, whether of this process or of another.
///
/// It is `flock` on a file of its own: the kernel releases it with the process, and handles of one process exclude each
/// other, because each opens the file anew. The file is never removed.
struct PlistLock: Sendable {
  let folder: PlistFolder
  let wait: PlistWait

  /// Runs `body` while the lock is held.
  ///
  /// - Throws: `StorageError` with the code `busy` where another handle held it for too long.
  func hold<Output>(
    exclusively: Bool, _ body: () throws(StorageError) -> Output
  ) throws(StorageError) -> Output {
    let file = try acquire(exclusively)
    defer { folder.fileSystem.unlock(file) }
    return try body()
  }

  private func acquire(_ exclusively: Bool) throws(StorageError) -> OpenFile {
    let path = folder.lockPath
    let file = try open()
    let isHeld: Bool? = try wait.poll { () throws(StorageError) in
      try folder.call("lock", path) { () throws(SystemError) in
        try folder.fileSystem.lock(file, exclusively: exclusively) ? true : nil
      }
    }
    guard isHeld != nil else { throw .busy(folder.path, after: wait.timeout) }
    return file
  }

  private func open() throws(StorageError) -> OpenFile {
    // Without waiting, because a named pipe in the place of the file would never open.
    let (path, flags) = (folder.lockPath, O_RDONLY | O_CREAT | O_NONBLOCK)
    do {
      return try folder.fileSystem.open(path, flags: flags)
    } catch  where error.isAbsence {
      // The folder was removed since the store was opened: the store is empty, and begins anew.
      try folder.make()
      return try folder.call("open", path) { () throws(SystemError) in
        try folder.fileSystem.open(path, flags: flags)
      }
    } catch {
      throw StorageError(error, action: "open", path: path)
    }
  }
}
