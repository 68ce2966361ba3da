internal import Synchronization

/// The system calls on the files of a store, with their errors in the words of the cache.
///
/// One function makes them all, so that a test can make any of them fail, and wait without time passing.
public struct StoreFiles: Sendable {
  /// The error (`errno`) that a call fails with instead of being made; `nil` to make it. Only tests set this.
  package var failure: (@Sendable (_ action: String, _ path: String) -> Int32?)?
  /// The time since a fixed moment, unaffected by changes of the clock.
  package var now = LockPatience.elapsed
  /// Blocks the thread. A signal can end the pause early; then the next attempt just comes sooner.
  package var pause: @Sendable (Duration) -> Void = { usleep(UInt32($0 / .microseconds(1))) }
  /// The most bytes that one call reads or writes: systems accept less than 2 GiB.
  package var largestTransfer = 1 << 30

  /// The calls of the system.
  public init() {}

  /// Makes a system call, again if a signal interrupts it.
  ///
  /// - Returns: its result; `nil` if it failed with the error `accepted`.
  @discardableResult
  private func call<Result: SignedInteger>(
    _ action: String, _ path: String, accepting accepted: Int32 = 0, _ body: () -> Result
  ) throws(CacheError) -> Result? {
    var code = failure?(action, path) ?? EINTR
    while code == EINTR {
      let result = body()
      if result != -1 { return result }
      code = errno
    }
    if code == accepted { return nil }
    throw .system(code, action, path)
  }

  /// Opens a file or folder; `nil` if there is none. A new file is accessible to the user alone.
  public func open(_ path: String, _ flags: Int32) throws(CacheError) -> OpenFile? {
    let action = flags & O_CREAT == 0 ? "open" : "create"
    // Non-blocking, because opening a named pipe in the file's place would wait forever.
    return try call(action, path, accepting: ENOENT) {
      CacheBase.open(path, flags | O_CLOEXEC | O_NONBLOCK, 0o600)
    }.map { OpenFile(path: path, descriptor: $0) }
  }

  /// The status of the item at `path`, with links followed; `nil` if there is none.
  public func status(of path: String) throws(CacheError) -> FileStatus? {
    var status = stat()
    return try call("look at", path, accepting: ENOENT) { stat(path, &status) }.map { _ in FileStatus(status) }
  }

  /// The status of an open file.
  public func status(of file: OpenFile) throws(CacheError) -> FileStatus {
    var status = stat()
    try call("look at", file.path) { fstat(file.descriptor, &status) }
    return FileStatus(status)
  }

  /// Whether anything has the name `path`, even a link that leads nowhere.
  public func isTaken(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// `path`, with "-2", "-3" and so on appended if that name is taken, or that name with one of `endings`.
  public func freeName(_ path: String, endings: [String] = [""]) -> String {
    var name = path
    var number = 1
    while endings.contains(where: { isTaken(name + $0) }) {
      number += 1
      name = "\(path)-\(number)"
    }
    return name
  }

  /// An open file with its status and content, or the first `limit` bytes of it; `nil` if there is none.
  ///
  /// - Throws: `CacheError`: `damaged` if it is not a regular file; `permissionDenied`, `ioFailed`.
  public func read(
    _ path: String, atMost limit: Int = .max
  ) throws(CacheError) -> (file: OpenFile, status: FileStatus, bytes: [UInt8])? {
    guard let file = try open(path, O_RDONLY) else { return nil }
    let status = try status(of: file)
    guard status.isRegular else { throw CacheError(.damaged, "\(path) is damaged: it is not a file") }
    return (file, status, try read(file, at: 0, count: min(status.size, limit)))
  }

  /// Up to `count` bytes of an open file from `offset` on, fewer at its end.
  public func read(_ file: OpenFile, at offset: Int, count: Int) throws(CacheError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let length = min(count - done, largestTransfer)
      let found = try call("read", file.path) {
        bytes.withUnsafeMutableBytes {
          pread(file.descriptor, $0.baseAddress?.advanced(by: done), length, off_t(offset + done))
        }
      }
      guard let found, found > 0 else { break }
      done += found
    }
    bytes.removeLast(count - done)
    return bytes
  }

  /// Writes `bytes` into an open file at `offset`.
  public func write(_ bytes: [UInt8], to file: OpenFile, at offset: Int) throws(CacheError) {
    var done = 0
    while done < bytes.count {
      let length = min(bytes.count - done, largestTransfer)
      done +=
        try call("write", file.path) {
          bytes.withUnsafeBytes {
            pwrite(file.descriptor, $0.baseAddress?.advanced(by: done), length, off_t(offset + done))
          }
        } ?? 0
    }
  }

  /// Gives an open file the size `size`.
  public func resize(_ file: OpenFile, to size: Int) throws(CacheError) {
    try call("write", file.path) { ftruncate(file.descriptor, off_t(size)) }
  }

  /// Opens a file, and writes `bytes` at its beginning, or at its end if `flags` say so.
  @discardableResult
  public func write(
    _ bytes: [UInt8], to path: String, _ flags: Int32, synchronized: Bool = false
  ) throws(CacheError) -> OpenFile {
    guard let file = try open(path, flags) else { throw .system(ENOENT, "create", path) }
    try write(bytes, to: file, at: flags & O_APPEND == 0 ? 0 : status(of: file).size)
    if synchronized { try synchronize(file) }
    return file
  }

  /// Creates a file with the content `bytes`, whole and on disk, unless another process is faster. If the file system has
  /// no links, it can replace the file of the other process.
  public func create(_ path: String, _ bytes: [UInt8]) throws(CacheError) {
    let draft = "\(path).\(UInt64.random(in: .min ... .max))"
    defer { _ = unlink(draft) }
    try write(bytes, to: draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, synchronized: true)
    do throws(CacheError) {
      try call("create", path, accepting: EEXIST) { link(draft, path) }
    } catch {
      try rename(draft, to: path)
    }
  }

  /// Waits until a file, or the names in a folder, are on disk.
  public func synchronize(_ file: OpenFile) throws(CacheError) {
    try call("synchronize", file.path) { fsync(file.descriptor) }
  }

  /// Waits until the file at `path`, or the names in the folder there, are on disk.
  public func synchronize(_ path: String) throws(CacheError) {
    guard let file = try open(path, O_RDONLY) else { throw .system(ENOENT, "open", path) }
    try synchronize(file)
  }

  /// Renames a file, replacing any file of the new name.
  public func rename(_ path: String, to newPath: String) throws(CacheError) {
    try call("replace", newPath) { CacheBase.rename(path, newPath) }
  }

  /// Removes a file, if it exists.
  public func remove(_ path: String) throws(CacheError) { try call("remove", path, accepting: ENOENT) { unlink(path) } }

  /// Creates a folder, accessible to the user alone, unless it exists, and its missing parents first.
  public func makeDirectory(_ path: String) throws(CacheError) {
    if path.isEmpty { return }
    if try status(of: path) != nil { return }
    if let slash = path.lastIndex(of: "/") { try makeDirectory(String(path[..<slash])) }
    try call("make directory", path, accepting: EEXIST) { mkdir(path, 0o700) }
  }

  /// Whether the file system of `path` is full, except for a few pages. A library can report that as another failure.
  public func isFull(at path: String) -> Bool {
    var status = statvfs()
    // A file system that does not know its size can report so much that a product overflows.
    return statvfs(path, &status) == 0 && UInt(min(status.f_bavail, 65_536)) * UInt(status.f_frsize) < 65_536
  }

  /// The names of everything in the folder at `path`.
  public func names(in path: String) throws(CacheError) -> Set<String> {
    var names: [String]?
    try call("list", path) {
      names = Folders.names(in: path)
      return names == nil ? Int32(-1) : 0
    }
    return Set(names ?? [])
  }
}

/// Locks (`flock`), which exclude other handles in this process and in others. The kernel releases them when the process
/// ends.
extension StoreFiles {
  /// Calls `body` while holding the lock on the file or folder at `path`, which is opened with `flags`.
  ///
  /// - Throws: `CacheError`: `busy` if another handle holds it for longer than `timeout`; what `body` throws.
  public func withLock<Output>(
    on path: String, _ flags: Int32 = O_RDONLY, exclusively: Bool = true, within timeout: Duration,
    _ body: (OpenFile) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    while true {
      guard let file = try open(path, flags) else { throw .system(ENOENT, "open", path) }
      try wait(for: path, within: timeout) { _ throws(CacheError) in try lock(file, exclusively: exclusively) ? () : nil
      }
      defer { unlock(file) }
      // The holder before might have replaced the file.
      if try status(of: path)?.identity == status(of: file).identity { return try body(file) }
    }
  }

  /// Locks the file until it is unlocked or closed; returns `false` if another handle holds the lock.
  public func lock(_ file: OpenFile, exclusively: Bool = true) throws(CacheError) -> Bool {
    let operation = (exclusively ? LOCK_EX : LOCK_SH) | LOCK_NB
    return try call("lock", file.path, accepting: EWOULDBLOCK) { flock(file.descriptor, operation) } != nil
  }

  /// Releases a lock, even if a child process that is about to start has inherited the file.
  public func unlock(_ file: OpenFile) {
    // It cannot fail on an open file; even if it did, closing the file would release the lock.
    _ = flock(file.descriptor, LOCK_UN)
  }

  /// Calls `attempt` with the time waited so far, until it returns a result.
  ///
  /// - Throws: `CacheError`: `busy` after `timeout`; what `attempt` throws.
  public func wait<Output>(
    for path: String, within timeout: Duration, hint: String = "try again, or end that process",
    _ attempt: (Duration) throws(CacheError) -> Output?
  ) throws(CacheError) -> Output {
    let start = now()
    while true {
      let waited = now() - start
      if let output = try attempt(waited) { return output }
      guard waited < timeout else {
        throw CacheError(
          .busy, "cannot lock \(path) within \(timeout): another process holds it", hint: hint)
      }
      // Short, because locks are held for a moment.
      pause(min(.microseconds(500), timeout - waited))
    }
  }
}

/// How long calls wait for a lock that another process holds: for the timeout, but not again right after one of them
/// has waited in vain. A fetch makes several calls, one after the other, and its response must not wait for each of
/// them.
public final class LockPatience: Sendable {
  private let timeout: Duration
  private let now: @Sendable () -> Duration
  /// When a call last gave up; `nil` after one that got the lock.
  private let gaveUpAt = Mutex<Duration?>(nil)

  /// Patience for calls that wait for up to `timeout`.
  ///
  /// - Parameter now: the time since a fixed moment.
  public init(_ timeout: Duration, now: @escaping @Sendable () -> Duration = LockPatience.elapsed) {
    self.timeout = timeout
    self.now = now
  }

  /// The time since the process began to measure it, by a clock that nobody sets.
  public static let elapsed: @Sendable () -> Duration = {
    let start = SuspendingClock.now
    return { start.duration(to: .now) }
  }()

  /// Calls `body`, which needs the lock, with the time for which it can wait. That is a fiftieth of the timeout for as
  /// long as the timeout after a call that has waited and failed with `busy`: a lock that others hold for a moment is not
  /// a failure.
  ///
  /// - Throws: what `body` throws.
  public func wait<Output>(_ body: (Duration) throws(CacheError) -> Output) throws(CacheError) -> Output {
    let start = now()
    let isShort = gaveUpAt.withLock { $0.map { start - $0 < timeout } ?? false }
    do throws(CacheError) {
      let output = try body(isShort ? timeout / 50 : timeout)
      succeeded()
      return output
    } catch {
      if error.code == .busy, !isShort { gaveUpAt.withLock { $0 = now() } }
      throw error
    }
  }

  /// Notes that a call got the lock without waiting.
  public func succeeded() { gaveUpAt.withLock { $0 = nil } }
}

/// Distinguishes the states of a file.
///
/// While a file is open, no other file gets its identity; so a file that replaced it always has another status.
public struct FileStatus: Sendable, Hashable {
  /// Which file it is, whatever its name.
  public struct Identity: Sendable, Hashable {
    private let device: UInt64
    private let number: UInt64

    /// The file with the status `status`.
    public init(_ status: stat) {
      device = UInt64(truncatingIfNeeded: status.st_dev)
      number = UInt64(status.st_ino)
    }
  }

  /// Which file it is.
  public let identity: Identity
  /// Whether it is a file with content: not a folder, a pipe or a device.
  public let isRegular: Bool
  /// The size in bytes.
  public let size: Int
  /// The last change of content, name, links or permissions, in nanoseconds. It overflows for times centuries away, which
  /// still tells states apart.
  private let changed: Int

  init(_ status: stat) {
    identity = Identity(status)
    isRegular = status.st_mode & S_IFMT == S_IFREG
    size = Int(status.st_size)
    changed = status.statusChangedAt.tv_sec &* 1_000_000_000 &+ status.statusChangedAt.tv_nsec
  }
}

/// A file descriptor, closed with its last reference; closing it also releases a lock on it.
public final class OpenFile: Sendable {
  /// The path that it was opened at.
  public let path: String
  /// The descriptor. It is open as long as this object lives.
  public let descriptor: Int32

  init(path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { _ = close(descriptor) }
}

extension CacheError {
  /// The error of a system call that failed with `number` (`errno`): `action` says what it was to do to the file or folder
  /// at `path`.
  public static func system(_ number: Int32, _ action: String, _ path: String) -> CacheError {
    let (code, hint): (Code, String) =
      switch number {
      case EACCES, EPERM, EROFS: (.permissionDenied, "check the permissions of it and of the directories above it")
      case ENOSPC, EDQUOT, EFBIG: (.noSpace, "make room on the file system")
      // Something else has the name of a file or directory.
      case ELOOP, ENAMETOOLONG, ENOTDIR, EISDIR, ENXIO: (.cannotCreate, "give another path")
      default: (.ioFailed, "check the path and the file system")
      }
    return CacheError(code, "cannot \(action) \(path): \(String(cString: strerror(number)))", hint: hint)
  }

  /// The error for a store at `path` that cannot be created because of this one. A full disk stays what it is.
  public func preventing(storeAt path: String) -> CacheError {
    guard code == .permissionDenied || code == .ioFailed else { return self }
    return CacheError(.cannotCreate, "\(path) cannot be created: \(message)", hint: hint, cause: self)
  }
}
