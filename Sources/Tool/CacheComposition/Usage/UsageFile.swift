internal import EngineSupport
internal import FetchVocabulary
internal import Platform

/// A small file beside a store, which several processes read and change under a lock.
package struct UsageFile: Sendable {
  /// The path of the file.
  let path: String
  /// Where an earlier version kept the file; `nil` if that is the same path, or belongs to another store.
  var formerPath: String?
  /// How long to wait for the lock. Each process holds it for some microseconds; one that is suspended meanwhile must not
  /// stop the others for ever.
  var patience = Duration.seconds(60)

  /// Whether the file exists; first moves it here from its former place. Any other obstacle shows when the file is
  /// opened.
  var exists: Bool { isThere || isTakenOver }

  private var isThere: Bool { faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT }

  /// Moves the file from its former place in one step: every reader sees it in one place or the other.
  private var isTakenOver: Bool {
    guard let formerPath else { return false }
    var status = stat()
    guard lstat(formerPath, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
    return rename(formerPath, path) == 0 || isThere
  }

  /// Opens the file, creating it for the user alone if needed, and calls `body` while no other process has it open.
  func change<Output>(_ body: (Int32) throws(CacheError) -> Output) throws(CacheError) -> Output {
    if !exists { makeFolder() }
    return try withFile(O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, lock: LOCK_EX, body)
  }

  /// Makes sure that what is in the open file is ours to overwrite: it is empty, blank, or begins with `beginning`.
  ///
  /// - Throws: `CacheError` with the code `cannotCreate`: the file belongs to someone else.
  func requireOwn(_ descriptor: Int32, beginning: String) throws(CacheError) {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count >= 0 else { throw failure("cannot be read") }
    let text = bytes.prefix(count)
    if text.allSatisfy({ $0 <= UInt8(ascii: " ") }) || text.starts(with: beginning.utf8) { return }
    throw .notAStore(path, "it has the name of a file about a store's use, and other content")
  }

  /// Opens the file, which exists, and calls `body` while no process changes it.
  func read<Output>(_ body: (Int32) throws(CacheError) -> Output) throws(CacheError) -> Output {
    try withFile(O_RDONLY | O_NOFOLLOW | O_CLOEXEC, lock: LOCK_SH, body)
  }

  /// Creates the folder of the file with its parents, for the user alone: a store in memory or elsewhere has not made
  /// one. A failure shows when the file is opened.
  private func makeFolder() {
    for index in path.indices.dropFirst() where path[index] == "/" { mkdir(String(path[..<index]), 0o700) }
  }

  private func withFile<Output>(
    _ flags: Int32, lock: Int32, _ body: (Int32) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    while true {
      let file = open(path, flags, 0o600)
      guard file >= 0 else { throw errno == ELOOP ? symbolicLink : failure("cannot be opened") }
      defer {
        // A process that is being started has the descriptor too, and with it the lock, until it runs its program.
        flock(file, LOCK_UN)
        close(file)
      }
      try take(lock, on: file)
      // The previous holder of the lock may have replaced the file.
      if isInPlace(file) { return try body(file) }
    }
  }

  private func take(_ lock: Int32, on file: Int32) throws(CacheError) {
    var start: ContinuousClock.Instant?
    while flock(file, lock | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else { throw failure("cannot be locked") }
      let now = ContinuousClock.now
      if start == nil { start = now }
      guard let start, now < start + patience else {
        throw CacheError(
          .busy, "\(path) cannot be locked within \(patience): another process holds it",
          hint: "end that process, or let it go on")
      }
      usleep(500)
    }
  }

  private func isInPlace(_ file: Int32) -> Bool {
    guard let opened = Self.status(of: file) else { return true }
    var status = stat()
    return stat(path, &status) == 0 && status.st_ino == opened.st_ino && status.st_dev == opened.st_dev
  }

  /// This tool must not overwrite the target of a symbolic link.
  private var symbolicLink: CacheError {
    CacheError(
      .ioFailed, "\(path) is a symbolic link, which is not followed",
      hint: "remove it: the use of the store is counted in a file there")
  }

  /// The system's status of an open file.
  static func status(of file: Int32) -> stat? {
    var status = stat()
    return fstat(file, &status) == 0 ? status : nil
  }

  /// The failure for the current `errno`.
  func failure(_ what: String) -> CacheError {
    let number = errno
    let isRefusal = [EACCES, EPERM, EROFS].contains(number)
    return CacheError(
      isRefusal ? .permissionDenied : .ioFailed,
      "\(path) \(what): \(String(cString: strerror(number)))", hint: "check its permissions and the free space")
  }
}
