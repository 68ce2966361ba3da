internal import Platform

/// Reads files of the operating system for `ConfigurationLoader`.
public enum ConfigurationFiles {
  /// The bytes of the file at `path`, not many more than `ConfigurationLoader.maximumFileSize`; `nil` if there is no
  /// such file.
  ///
  /// - Throws: `ConfigurationError`: `unreadableFile` if the file exists but cannot be read; `cancelled` if the task is
  ///   cancelled while there is nothing to read, as in a pipe.
  public static func contents(of path: String) throws(ConfigurationError) -> [UInt8]? {
    // Opening a named pipe must not wait for its writer, because no signal would end that wait; `wait` waits instead.
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw failure(path, errno)
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    while bytes.count <= ConfigurationLoader.maximumFileSize {
      try wait(for: descriptor)
      guard let chunk = try chunk(descriptor, path) else { continue }
      if chunk.isEmpty { break }
      bytes += chunk
    }
    return bytes
  }

  /// How long a cancellation may go unnoticed, in milliseconds.
  private static let interval: Int32 = 50

  /// Waits until there is something to read, or the end.
  private static func wait(for descriptor: Int32) throws(ConfigurationError) {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while true {
      let count = poll(&request, 1, interval)
      if count > 0 || (count < 0 && errno != EINTR) { return }
      if Task.isCancelled { throw ConfigurationError(.cancelled, "cancelled", hint: "") }
    }
  }

  /// The next bytes, empty at the end; `nil` if there are none yet.
  private static func chunk(_ descriptor: Int32, _ path: String) throws(ConfigurationError) -> [UInt8]? {
    var error: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: 16_384) { buffer, initializedCount in
      var count: Int
      repeat { count = read(descriptor, buffer.baseAddress, buffer.count) } while count < 0 && errno == EINTR
      if count < 0 { error = errno }
      initializedCount = max(count, 0)
    }
    if error == EAGAIN { return nil }
    guard error == 0 else { throw failure(path, error) }
    return bytes
  }

  private static func failure(_ path: String, _ error: Int32) -> ConfigurationError {
    let isRefused = error == EACCES || error == EPERM
    return .unreadable(
      path, reason: String(cString: strerror(error)), hint: isRefused ? "make it a file that you may read" : nil)
  }
}
