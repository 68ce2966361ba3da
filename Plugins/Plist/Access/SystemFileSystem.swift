internal import Platform

/// A file descriptor, closed with its last reference; closing it also releases a lock on it.
final class OpenFile: Sendable {
  let descriptor: Int32

  init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { _ = close(descriptor) }
}

/// The operating system's file calls.
struct SystemFileSystem: FileSystem {
  func open(_ path: String, flags: Int32) throws(SystemError) -> OpenFile {
    OpenFile(descriptor: try Self.call { openFile(path, flags | O_CLOEXEC, 0o600) })
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
        initialized = try Self.call { readBytes(file.descriptor, start, count) }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  func write(_ bytes: ArraySlice<UInt8>, to file: OpenFile) throws(SystemError) -> Int {
    try bytes.withUnsafeBufferPointer { buffer throws(SystemError) in
      try Self.call { writeBytes(file.descriptor, buffer.baseAddress, buffer.count) }
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
    try Self.call { renameFile(path, newPath) }
  }

  func link(_ path: String, to newPath: String) throws(SystemError) {
    try Self.call { linkFile(path, newPath) }
  }

  func unlink(_ path: String) throws(SystemError) { try Self.call { unlinkFile(path) } }

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

// The methods above hide the functions of the same names, and qualifying them with a module would tie this to one C
// library.
private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
private func readBytes(_ file: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  guard let bytes else { return 0 }
  return read(file, bytes, count)
}
private func writeBytes(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  guard let bytes else { return 0 }
  return write(file, bytes, count)
}
private func renameFile(_ path: String, _ newPath: String) -> Int32 { rename(path, newPath) }
private func linkFile(_ path: String, _ newPath: String) -> Int32 { link(path, newPath) }
private func unlinkFile(_ path: String) -> Int32 { unlink(path) }

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
