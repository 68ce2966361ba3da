internal import CacheBase

/// Facts about this process from the operating system.
package enum ProcessEnvironment {
  /// The environment variables. Foundation has them too, but would have to be loaded at each start.
  package static var variables: EnvironmentVariables {
    EnvironmentVariables(value: value(of:), names: names(beginning:))
  }

  /// The value of a variable; `nil` if there is none.
  package static func value(of name: String) -> String? { getenv(name).map { String(cString: $0) } }

  /// The names of the variables that begin with `prefix`.
  package static func names(beginning prefix: String) -> [String] {
    var names: [String] = []
    let length = prefix.utf8.count
    prefix.withCString { prefix in
      var next = environ
      while let entry = next.pointee {
        if strncmp(entry, prefix, length) == 0, let sign = strchr(entry, 0x3d) {
          let name = UnsafeRawBufferPointer(start: entry, count: sign - entry)
          names.append(String(decoding: name, as: UTF8.self))
        }
        next += 1
      }
    }
    return names
  }

  /// All environment variables, for a process to be started.
  package static var all: [String: String] {
    let pairs = names(beginning: "").compactMap { name in value(of: name).map { (name, $0) } }
    return Dictionary(pairs) { $1 }
  }

  /// The number of the first argument that is not UTF-8, from 1; `nil` if all are. A `String` replaces invalid bytes,
  /// and would name a different file or key.
  package static var malformedArgument: Int? {
    let arguments = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
    return arguments.indices.dropFirst().first { index in
      arguments[index].map { String(validatingCString: $0) == nil } ?? false
    }
  }

  /// The name of the first variable that affects the configuration or its files and is not UTF-8; `nil` if all are. A
  /// `String` replaces invalid bytes, and would name a different folder.
  ///
  /// - Parameters:
  ///   - prefix: what the names of the program's own variables begin with.
  ///   - others: further variables that count.
  package static func malformedVariable(beginning prefix: String, others: [String] = []) -> String? {
    let own = names(beginning: prefix) + others + ["HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"]
    return own.first { name in getenv(name).map { String(validatingCString: $0) == nil } ?? false }
  }

  /// The absolute path of the user's home folder.
  package static var userHome: String { HomeFolder.path }

  /// The current directory; the root if it is unknown, because it was removed.
  package static var workingDirectory: String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    return String(cString: path)
  }
}

/// Reads files of the operating system for `ConfigurationLoader`.
public enum ConfigurationFiles {
  /// The bytes of the file at `path`, not many more than `ConfigurationLoader.maximumFileSize`; `nil` if there is no
  /// such file.
  ///
  /// - Throws: `ConfigurationError`: `unreadableFile` if the file exists but cannot be read; `cancelled` if the task is
  ///   cancelled while there is nothing to read, as in a pipe.
  public static func contents(of path: String) throws(ConfigurationError) -> [UInt8]? {
    // Opening a named pipe must not wait for its writer, because no signal would end that wait.
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw failure(path, errno)
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while bytes.count <= ConfigurationLoader.maximumFileSize {
      do throws(CacheError) { try Readiness.wait(for: descriptor, POLLIN) } catch {
        throw ConfigurationError(.cancelled, "cancelled", hint: "")
      }
      let count = read(descriptor, &chunk, chunk.count)
      if count == 0 { break }
      if count > 0 {
        bytes += chunk[..<count]
      } else if errno != EINTR, errno != EAGAIN {
        throw failure(path, errno)
      }
    }
    return bytes
  }

  private static func failure(_ path: String, _ error: Int32) -> ConfigurationError {
    let isRefused = error == EACCES || error == EPERM
    return .unreadable(
      path, reason: String(cString: strerror(error)), hint: isRefused ? "make it a file that you can read" : nil)
  }
}
