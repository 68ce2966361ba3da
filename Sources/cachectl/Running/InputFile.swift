internal import CacheDomain
internal import Glibc

/// Reads files that the user names.
enum InputFile {
  /// All bytes of the file at `path`; `-` means the standard input.
  ///
  /// - Throws: `CacheError` with the code `unreadable`.
  static func bytes(of path: String) throws(CacheError) -> [UInt8] {
    let file = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw failure(path) }
    defer { if file != STDIN_FILENO { close(file) } }
    var (bytes, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
    while true {
      let count = read(file, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure(path) }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
    }
  }

  private static func failure(_ path: String) -> CacheError {
    let reason = String(cString: strerror(errno))
    return CacheError(
      CacheError.Code(rawValue: "ioFailed"), "\(path) cannot be read: \(reason)", hint: "name a file that can be read")
  }
}
