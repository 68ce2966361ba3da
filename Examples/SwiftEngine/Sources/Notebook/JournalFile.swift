internal import CacheBase
internal import EngineAPI

/// A file that is open in this process alone. Every call of the system is here.
final class JournalFile: Sendable {
  private let path: String
  private let descriptor: Int32

  /// Opens the file at `path` with `flags`, and creates its folder if there is none.
  init(_ path: String, _ flags: Int32) throws(CacheError) {
    for slash in path.indices.dropFirst() where path[slash] == "/" {
      // If this fails, opening the file fails too.
      _ = mkdir(String(path[..<slash]), 0o700)
    }
    descriptor = open(path, flags | O_CLOEXEC, 0o600)
    self.path = path
    if descriptor < 0 { throw error("open", Self.codesOfOpening[errno] ?? .ioFailed) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  private static let codesOfOpening: [Int32: CacheError.Code] = [
    EACCES: .permissionDenied, EROFS: .permissionDenied, EPERM: .permissionDenied, ENOTDIR: .cannotCreate,
    ENOENT: .cannotCreate, EISDIR: .cannotCreate, ENOSPC: .noSpace,
  ]

  private func error(_ call: String, _ code: CacheError.Code) -> CacheError {
    CacheError(code, "cannot \(call) \(path): \(String(cString: strerror(errno)))")
  }

  /// Keeps other processes and handles away until the file is closed.
  func lock() throws(CacheError) {
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
    throw error("lock", errno == EWOULDBLOCK ? .busy : .ioFailed)
  }

  /// All bytes of the file.
  func contents() throws(CacheError) -> [UInt8] {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw error("look at", .ioFailed) }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var offset = 0
    while offset < bytes.count {
      let count = bytes[offset...].withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress, $0.count, off_t(offset))
      }
      guard count > 0 else { throw error("read", .ioFailed) }
      offset += count
    }
    return bytes
  }

  /// Writes `bytes` at `offset`, and cuts the file after them.
  func write(_ bytes: [UInt8], at offset: Int) throws(CacheError) {
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes {
        pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset + written))
      }
      guard count > 0 else { throw error("write", errno == ENOSPC || errno == EDQUOT ? .noSpace : .ioFailed) }
      written += count
    }
    // This removes the rest of a longer record that was never finished.
    guard ftruncate(descriptor, off_t(offset + bytes.count)) == 0 else { throw error("cut", .ioFailed) }
  }

  /// Waits until the disk has everything.
  func synchronize() throws(CacheError) {
    guard fsync(descriptor) == 0 else { throw error("synchronize", .ioFailed) }
  }

  /// Takes the place of the file at `newPath`, in one step.
  func rename(to newPath: String) throws(CacheError) {
    guard CacheBase.rename(path, newPath) == 0 else { throw error("rename", .ioFailed) }
  }
}
