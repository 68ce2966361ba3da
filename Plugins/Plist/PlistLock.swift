internal import EngineSupport
internal import Platform
internal import StorageSPI

/// The lock on a store, which excludes other handles in this process and in others.
///
/// It is `flock` on a file of its own. The kernel releases it when the process ends. Handles of one process exclude
/// each other, because each opens the file separately. The file is never removed.
///
/// To take it, a handle first takes its turn: `flock` on the folder, which it keeps until it has the lock. So a handle
/// that has just released the lock cannot take it again while another one waits for it. The turn protects nothing: a
/// handle that cannot lock the folder, or has waited for its turn for half of the timeout, goes without, which is unfair
/// but safe. So a process that is suspended while it waits stops no other.
struct PlistLock: Sendable {
  let folder: PlistFolder
  private let timeout: Duration
  private let patience: LockPatience

  init(_ folder: PlistFolder, timeout: Duration) {
    self.folder = folder
    self.timeout = timeout
    patience = LockPatience(timeout) { folder.fileSystem.elapsed }
  }

  /// Runs `body` while holding the lock.
  ///
  /// - Throws: `CacheError` with the code `busy` if it cannot be had within the timeout.
  func hold<Output>(
    exclusively: Bool, _ body: () throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    let file = try acquire(exclusively: exclusively)
    defer { folder.fileSystem.unlock(file) }
    return try body()
  }

  /// Takes the lock, which lasts until the file is unlocked or closed.
  func acquire(exclusively: Bool) throws(CacheError) -> OpenFile {
    try patience.wait { timeout throws(CacheError) in
      try acquire(exclusively: exclusively, for: timeout)
    }
  }

  private func acquire(exclusively: Bool, for timeout: Duration) throws(CacheError) -> OpenFile {
    let path = folder.lockPath
    let fileSystem = folder.fileSystem
    let file = try open()
    let turn = try? fileSystem.open(folder.path, flags: O_RDONLY | O_DIRECTORY)
    defer { if let turn { fileSystem.unlock(turn) } }
    let start = fileSystem.elapsed
    var hasTurn = false
    let isHeld: Bool? = try fileSystem.poll(for: timeout) { () throws(CacheError) in
      if !hasTurn { hasTurn = turn.map(isTaken) ?? true || fileSystem.elapsed - start > timeout / 2 }
      guard hasTurn else { return nil }
      return try folder.call("lock", path) { () throws(SystemError) in
        try fileSystem.lock(file, exclusively: exclusively) ? true : nil
      }
    }
    guard isHeld != nil else { throw .busy("lock", folder.path, after: self.timeout) }
    return file
  }

  /// Takes the turn if no other handle has it, or if the file system has no locks on folders.
  private func isTaken(_ turn: OpenFile) -> Bool {
    (try? folder.fileSystem.lock(turn, exclusively: true)) ?? true
  }

  private func open() throws(CacheError) -> OpenFile {
    // Non-blocking, because opening a named pipe in the file's place would wait forever.
    let path = folder.lockPath
    let flags = O_RDONLY | O_CREAT | O_NONBLOCK
    do {
      return try folder.fileSystem.open(path, flags: flags)
    } catch  where error.isAbsence {
      // The folder was removed after the store was opened: start again with an empty store.
      try folder.makeStore()
      return try folder.call("open", path) { () throws(SystemError) in
        try folder.fileSystem.open(path, flags: flags)
      }
    } catch {
      throw CacheError(error, action: "open", path: path)
    }
  }
}
