internal import Platform

/// Reads files of the operating system for `ConfigurationLoader`.
public enum ConfigurationFiles {
  /// The bytes of the file at `path`, not many more than `ConfigurationLoader.maximumFileSize`; `nil` if there is no
  /// such file.
  ///
  /// - Throws: `ConfigurationError` with the code `unreadableFile` if the file exists but cannot be read.
  public static func contents(of path: String) throws(ConfigurationError) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw failure(path, errno)
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    while bytes.count <= ConfigurationLoader.maximumFileSize {
      let chunk = try chunk(descriptor, path)
      if chunk.isEmpty { break }
      bytes += chunk
    }
    return bytes
  }

  /// The next bytes; empty at the end.
  private static func chunk(_ descriptor: Int32, _ path: String) throws(ConfigurationError) -> [UInt8] {
    var error: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: 16_384) { buffer, initializedCount in
      var count: Int
      repeat { count = read(descriptor, buffer.baseAddress, buffer.count) } while count < 0 && errno == EINTR
      if count < 0 { error = errno }
      initializedCount = max(count, 0)
    }
    guard error == 0 else { throw failure(path, error) }
    return bytes
  }

  private static func failure(_ path: String, _ error: Int32) -> ConfigurationError {
    .unreadable(path, reason: String(cString: strerror(error)))
  }
}
