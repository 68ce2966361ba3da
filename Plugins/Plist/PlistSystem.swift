internal import EngineSupport
internal import Platform
internal import StorageSPI

/// All system calls of this engine, made by one function, so that a test can make any of them fail, and wait without time
/// passing.
struct PlistSystem: Sendable {
  /// The error (`errno`) that a call fails with instead of being made; `nil` to make it. Only tests set this.
  var failure: @Sendable (_ action: String, _ path: String) -> Int32? = { _, _ in nil }
  /// The time since a fixed moment, unaffected by changes of the clock.
  var now = LockPatience.elapsed
  /// Blocks the thread. A signal may end the pause early; then the next attempt just comes sooner.
  var pause: @Sendable (Duration) -> Void = { usleep(UInt32($0 / .microseconds(1))) }
  /// The most bytes that one call reads or writes: systems accept less than 2 GiB.
  var largestTransfer = 1 << 30

  /// Makes a system call, again if a signal interrupts it.
  ///
  /// - Returns: its result; `nil` if it failed with the error `accepted`.
  @discardableResult
  private func call<Result: SignedInteger>(
    _ action: String, _ path: String, accepting accepted: Int32 = 0, _ body: () -> Result
  ) throws(CacheError) -> Result? {
    var code = failure(action, path) ?? EINTR
    while code == EINTR {
      let result = body()
      if result != -1 { return result }
      code = errno
    }
    if code == accepted { return nil }
    throw .system(code, action, path)
  }

  /// Opens a file; `nil` if there is none. A new file is accessible to the user alone.
  func open(_ path: String, _ flags: Int32) throws(CacheError) -> OpenFile? {
    let action = flags & O_CREAT == 0 ? "open" : "create"
    // Non-blocking, because opening a named pipe in the file's place would wait forever.
    return try call(action, path, accepting: ENOENT) {
      Platform.open(path, flags | O_CLOEXEC | O_NONBLOCK, 0o600)
    }.map { OpenFile(path: path, descriptor: $0) }
  }

  /// The status of the item at `path`; `nil` if there is none.
  func status(of path: String) throws(CacheError) -> FileStatus? {
    var status = stat()
    return try call("look at", path, accepting: ENOENT) { stat(path, &status) }.map { _ in FileStatus(status) }
  }

  func status(of file: OpenFile) throws(CacheError) -> FileStatus {
    var status = stat()
    try call("look at", file.path) { fstat(file.descriptor, &status) }
    return FileStatus(status)
  }

  /// An open file with its status and content, or the first `limit` bytes of it; `nil` if there is none.
  func read(
    _ path: String, atMost limit: Int = .max
  ) throws(CacheError) -> (file: OpenFile, status: FileStatus, bytes: [UInt8])? {
    guard let file = try open(path, O_RDONLY) else { return nil }
    let status = try status(of: file)
    guard status.isRegular else { throw .damagedFile(path, "it is not a file") }
    var bytes = [UInt8](repeating: 0, count: min(status.size, limit))
    var count = 0
    while count < bytes.count {
      let length = min(bytes.count - count, largestTransfer)
      let found = try call("read", path) {
        bytes.withUnsafeMutableBytes { Platform.read(file.descriptor, $0.baseAddress?.advanced(by: count), length) }
      }
      guard let found, found > 0 else { break }
      count += found
    }
    bytes.removeLast(bytes.count - count)
    return (file, status, bytes)
  }

  /// Opens a file, and writes `bytes` at its beginning, or at its end if `flags` say so.
  func write(_ bytes: [UInt8], to path: String, _ flags: Int32, synchronized: Bool) throws(CacheError) -> OpenFile {
    guard let file = try open(path, flags) else { throw .system(ENOENT, "create", path) }
    var count = 0
    while count < bytes.count {
      let length = min(bytes.count - count, largestTransfer)
      count +=
        try call("write", path) {
          bytes.withUnsafeBytes { Platform.write(file.descriptor, $0.baseAddress?.advanced(by: count), length) }
        } ?? 0
    }
    if synchronized { try synchronize(file) }
    return file
  }

  /// Waits until a file, or the names in a folder, are on disk.
  func synchronize(_ file: OpenFile) throws(CacheError) {
    try call("synchronize", file.path) { fsync(file.descriptor) }
  }

  /// Locks the file until it is unlocked or closed; returns `false` if another handle holds the lock.
  func lock(_ file: OpenFile, exclusively: Bool) throws(CacheError) -> Bool {
    let operation = (exclusively ? LOCK_EX : LOCK_SH) | LOCK_NB
    return try call("lock", file.path, accepting: EWOULDBLOCK) { flock(file.descriptor, operation) } != nil
  }

  /// Releases a lock, even if a child process that is about to start has inherited the file.
  func unlock(_ file: OpenFile) {
    // It cannot fail on an open file; even if it did, closing the file would release the lock.
    _ = flock(file.descriptor, LOCK_UN)
  }

  /// Renames a file, replacing any file of the new name.
  func rename(_ path: String, to newPath: String) throws(CacheError) {
    try call("replace", newPath) { Platform.rename(path, newPath) }
  }

  /// Removes a file, if it exists.
  func remove(_ path: String) throws(CacheError) { try call("remove", path, accepting: ENOENT) { unlink(path) } }

  /// Creates a folder, accessible to the user alone, unless it exists, and its missing parents first.
  func makeFolder(_ path: String) throws(CacheError) {
    if try status(of: path) != nil { return }
    if let slash = path.lastIndex(of: "/"), slash != path.startIndex { try makeFolder(String(path[..<slash])) }
    try call("make directory", path, accepting: EEXIST) { mkdir(path, 0o700) }
  }

  /// The names in a folder, in order.
  func names(in path: String) throws(CacheError) -> [String] {
    try call("list", path) { 0 }
    return try StorePlace.names(inFolder: path).sorted()
  }
}

/// Distinguishes the states of a file.
///
/// While a file is open, no other file gets its inode; so a file that replaced it always has another status.
struct FileStatus: Sendable, Hashable {
  let isRegular: Bool
  let size: Int
  private let device: UInt64
  private let inode: UInt64
  /// The last change of content, name, links or permissions, in nanoseconds. It overflows for times centuries away, which
  /// still tells states apart.
  private let changed: Int

  init(_ status: stat) {
    isRegular = status.st_mode & S_IFMT == S_IFREG
    size = Int(status.st_size)
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(status.st_ino)
    changed = status.statusChangedAt.tv_sec &* 1_000_000_000 &+ status.statusChangedAt.tv_nsec
  }
}

/// A file descriptor, closed with its last reference; closing it also releases a lock on it.
final class OpenFile: Sendable {
  let path: String
  let descriptor: Int32

  init(path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { _ = close(descriptor) }
}
