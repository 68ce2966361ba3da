#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The files of the operating system, for `ConfigurationLoader`.
public enum ConfigurationFiles {
  /// The bytes of the file at `path`, not many more than `ConfigurationLoader.maximumFileSize`; `nil` where there is
  /// no such file.
  ///
  /// - Throws: `ConfigurationError` with the code `unreadableFile` where there is one that cannot be read.
  public static func read(_ path: String) throws(ConfigurationError) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw failure(path)
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    while bytes.count <= ConfigurationLoader.maximumFileSize {
      let chunk = try readChunk(descriptor, path)
      if chunk.isEmpty { break }
      bytes += chunk
    }
    return bytes
  }

  private static func readChunk(_ descriptor: Int32, _ path: String) throws(ConfigurationError) -> [UInt8] {
    var count = 0
    let chunk = [UInt8](unsafeUninitializedCapacity: 16_384) { buffer, initializedCount in
      repeat { count = Self.read(descriptor, buffer) } while count < 0 && errno == EINTR
      initializedCount = max(count, 0)
    }
    if count < 0 { throw failure(path) }
    return chunk
  }

  private static func read(_ descriptor: Int32, _ buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    #if canImport(Glibc)
      Glibc.read(descriptor, buffer.baseAddress, buffer.count)
    #elseif canImport(Musl)
      Musl.read(descriptor, buffer.baseAddress, buffer.count)
    #else
      Darwin.read(descriptor, buffer.baseAddress, buffer.count)
    #endif
  }

  private static func failure(_ path: String) -> ConfigurationError {
    .unreadable(path, reason: String(cString: strerror(errno)))
  }
}
