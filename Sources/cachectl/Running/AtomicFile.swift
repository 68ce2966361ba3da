internal import CacheDomain
internal import Glibc

/// Writes files for the user, whole or not at all.
enum AtomicFile {
  /// Writes `bytes` to `path` by way of a temporary file beside it. With `replacing` false an existing file is kept.
  ///
  /// - Throws: `CacheError`: `cannotCreate` where the file cannot be made or is there already, `ioFailed`, `noSpace`.
  static func write(_ bytes: [UInt8], to path: String, replacing: Bool = true) throws(CacheError) {
    let temporary = "\(path).\(getpid()).new"
    let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw failure("cannotCreate", path) }
    defer { unlink(temporary) }
    do {
      defer { close(file) }
      guard writeAll(bytes, to: file), fsync(file) == 0 else {
        throw failure(errno == ENOSPC ? "noSpace" : "ioFailed", path)
      }
    }
    let status = replacing ? rename(temporary, path) : link(temporary, path)
    guard status == 0 else { throw failure("cannotCreate", path) }
  }

  /// Makes the folders above `path` that are missing, for the user alone.
  ///
  /// - Throws: `CacheError` with the code `cannotCreate`.
  static func makeFolders(above path: String) throws(CacheError) {
    var folder = ""
    for name in path.split(separator: "/").dropLast() {
      folder += "/\(name)"
      guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw failure("cannotCreate", path) }
    }
  }

  private static func writeAll(_ bytes: [UInt8], to file: Int32) -> Bool {
    bytes.withUnsafeBytes { bytes in
      var offset = 0
      while offset < bytes.count {
        let count = Glibc.write(
          file, UnsafeRawBufferPointer(rebasing: bytes[offset...]).baseAddress, bytes.count - offset)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        offset += count
      }
      return true
    }
  }

  private static func failure(_ code: String, _ path: String) -> CacheError {
    let reason = String(cString: strerror(errno))
    return CacheError(
      CacheError.Code(rawValue: code), "\(path) cannot be written: \(reason)", hint: "name another file")
  }
}
