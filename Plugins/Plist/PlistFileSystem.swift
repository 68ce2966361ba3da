internal import Platform

/// All system calls of this engine in one place, so that a test can make any of them fail, and wait without time passing.
///
/// Paths are passed unchanged. Every method is one system call, retried if a signal interrupts it.
protocol FileSystem: Sendable {
  /// Opens a file with the `flags` of `open`. The file is closed on exec; a new one is accessible to the user alone.
  func open(_ path: String, flags: Int32) throws(SystemError) -> OpenFile
  /// The status of the item at `path`; `nil` if there is none.
  func status(of path: String) throws(SystemError) -> FileStatus?
  /// The status of an open file.
  func status(of file: OpenFile) throws(SystemError) -> FileStatus
  /// The next bytes of a file, at most `count`; empty at its end.
  func read(_ file: OpenFile, count: Int) throws(SystemError) -> [UInt8]
  /// Writes some of `bytes`, and returns how many.
  func write(_ bytes: ArraySlice<UInt8>, to file: OpenFile) throws(SystemError) -> Int
  /// Waits until the file or folder is on disk.
  func synchronize(_ file: OpenFile) throws(SystemError)
  /// Locks the file until it is unlocked or closed; returns `false` if another handle holds the lock.
  func lock(_ file: OpenFile, exclusively: Bool) throws(SystemError) -> Bool
  /// Releases a lock, even if a child process that is about to start has inherited the file.
  func unlock(_ file: OpenFile)
  /// Renames a file, replacing any file of the new name.
  func rename(_ path: String, to newPath: String) throws(SystemError)
  /// Removes a file.
  func unlink(_ path: String) throws(SystemError)
  /// Creates one folder, accessible to the user alone.
  func makeFolder(_ path: String) throws(SystemError)
  /// The names in a folder, in no particular order.
  func names(in path: String) throws(SystemError) -> [String]
  /// The time since a fixed moment, unaffected by changes of the clock.
  var elapsed: Duration { get }
  /// Blocks the thread for `duration`.
  func pause(for duration: Duration)
}

extension FileSystem {
  /// The result of the first successful attempt; `nil` if none succeeds within `timeout`. It makes at least one attempt.
  ///
  /// The pause between two attempts is short, because the lock is free while the handle whose turn it is pauses, and
  /// always the same, so that no handle asks more often than one that has waited longer.
  func poll<Output, Failure: Error>(
    for timeout: Duration, _ attempt: () throws(Failure) -> Output?
  ) throws(Failure) -> Output? {
    let start = elapsed
    while true {
      if let output = try attempt() { return output }
      let left = timeout - (elapsed - start)
      guard left > .zero else { return nil }
      pause(for: min(.microseconds(500), left))
    }
  }
}

/// A failed system call.
struct SystemError: Error, Hashable {
  /// The value of `errno`.
  let code: Int32
}

/// Distinguishes the states of a file.
///
/// While a file is open, no other file gets its inode; so a file that replaced it always has another status.
struct FileStatus: Sendable, Hashable {
  enum Kind: Sendable { case regular, folder, other }

  let kind: Kind
  let device: UInt64
  let inode: UInt64
  let size: Int
  /// The last change of the content, in nanoseconds.
  let modified: Int64
  /// The last change of content, name, links or permissions, in nanoseconds.
  let changed: Int64
}

/// A file descriptor, closed with its last reference; closing it also releases a lock on it.
final class OpenFile: Sendable {
  let descriptor: Int32

  init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { _ = close(descriptor) }
}

/// The operating system's file calls.
struct SystemFileSystem: FileSystem {
  private let start = SuspendingClock.now

  var elapsed: Duration { start.duration(to: .now) }

  func pause(for duration: Duration) {
    let (seconds, attoseconds) = duration.components
    var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    // A signal may end the pause early; then the next attempt just comes sooner.
    nanosleep(&time, nil)
  }

  func open(_ path: String, flags: Int32) throws(SystemError) -> OpenFile {
    OpenFile(descriptor: try Self.call { Platform.open(path, flags | O_CLOEXEC, 0o600) })
  }

  func status(of path: String) throws(SystemError) -> FileStatus? {
    var status = stat()
    do {
      try Self.call { stat(path, &status) }
    } catch  where error.code == ENOENT {
      return nil
    }
    return FileStatus(status)
  }

  func status(of file: OpenFile) throws(SystemError) -> FileStatus {
    var status = stat()
    try Self.call { fstat(file.descriptor, &status) }
    return FileStatus(status)
  }

  func read(_ file: OpenFile, count: Int) throws(SystemError) -> [UInt8] {
    if count == 0 { return [] }  // An array made with no room is written where all threads share it.
    var failure: SystemError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      do throws(SystemError) {
        let start = buffer.baseAddress
        initialized = try Self.call { Platform.read(file.descriptor, start, count) }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  func write(_ bytes: ArraySlice<UInt8>, to file: OpenFile) throws(SystemError) -> Int {
    try bytes.withUnsafeBufferPointer { buffer throws(SystemError) in
      try Self.call { Platform.write(file.descriptor, buffer.baseAddress, buffer.count) }
    }
  }

  func synchronize(_ file: OpenFile) throws(SystemError) { try Self.call { fsync(file.descriptor) } }

  func lock(_ file: OpenFile, exclusively: Bool) throws(SystemError) -> Bool {
    do {
      try Self.call { flock(file.descriptor, (exclusively ? LOCK_EX : LOCK_SH) | LOCK_NB) }
      return true
    } catch  where error.code == EWOULDBLOCK {
      return false
    }
  }

  func unlock(_ file: OpenFile) {
    // It cannot fail on an open file; even if it did, closing the file would release the lock.
    _ = flock(file.descriptor, LOCK_UN)
  }

  func rename(_ path: String, to newPath: String) throws(SystemError) {
    try Self.call { Platform.rename(path, newPath) }
  }

  func unlink(_ path: String) throws(SystemError) { try Self.call { Platform.unlink(path) } }

  func makeFolder(_ path: String) throws(SystemError) { try Self.call { mkdir(path, 0o700) } }

  func names(in path: String) throws(SystemError) -> [String] {
    guard let folder = opendir(path) else { throw SystemError(code: errno) }
    defer { closedir(folder) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(folder) else {
        if errno != 0 { throw SystemError(code: errno) }
        return names
      }
      names.append(withUnsafePointer(to: &entry.pointee.d_name) { Self.text(UnsafeRawPointer($0)) })
    }
  }

  private static func text(_ name: UnsafeRawPointer) -> String {
    String(cString: name.assumingMemoryBound(to: CChar.self))
  }

  @discardableResult
  private static func call<Result: SignedInteger>(_ body: () -> Result) throws(SystemError) -> Result {
    while true {
      let result = body()
      if result != -1 { return result }
      guard errno == EINTR else { throw SystemError(code: errno) }
    }
  }
}

extension FileStatus {
  fileprivate init(_ status: stat) {
    let format = status.st_mode & S_IFMT
    kind = format == S_IFREG ? .regular : format == S_IFDIR ? .folder : .other
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int(status.st_size)
    modified = Self.nanoseconds(status.contentsChangedAt)
    changed = Self.nanoseconds(status.statusChangedAt)
  }

  /// Overflows for times centuries away, which still tells states apart.
  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
