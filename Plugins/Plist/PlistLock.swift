#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif
internal import StorageSPI

/// The lock on a store, which excludes other handles in this process and in others.
///
/// It is `flock` on a file of its own. The kernel releases it when the process ends. Handles of one process exclude
/// each other, because each opens the file separately. The file is never removed.
struct PlistLock: Sendable {
  let folder: PlistFolder
  let wait: PlistWait

  /// Runs `body` while holding the lock.
  ///
  /// - Throws: `CacheError` with the code `busy` if another handle holds it for longer than the time-out.
  func hold<Output>(
    exclusively: Bool, _ body: () throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    let file = try acquire(exclusively)
    defer { folder.fileSystem.unlock(file) }
    return try body()
  }

  private func acquire(_ exclusively: Bool) throws(CacheError) -> OpenFile {
    let path = folder.lockPath
    let file = try open()
    let isHeld: Bool? = try wait.poll { () throws(CacheError) in
      try folder.call("lock", path) { () throws(SystemError) in
        try folder.fileSystem.lock(file, exclusively: exclusively) ? true : nil
      }
    }
    guard isHeld != nil else { throw .busy(folder.path, after: wait.timeout) }
    return file
  }

  private func open() throws(CacheError) -> OpenFile {
    // Non-blocking, because opening a named pipe in the file's place would wait forever.
    let (path, flags) = (folder.lockPath, O_RDONLY | O_CREAT | O_NONBLOCK)
    do {
      return try folder.fileSystem.open(path, flags: flags)
    } catch  where error.isAbsence {
      // The folder was removed after the store was opened: start again with an empty store.
      try folder.make()
      return try folder.call("open", path) { () throws(SystemError) in
        try folder.fileSystem.open(path, flags: flags)
      }
    } catch {
      throw CacheError(error, action: "open", path: path)
    }
  }
}
