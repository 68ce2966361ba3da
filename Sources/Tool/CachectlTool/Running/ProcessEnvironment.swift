internal import CacheComposition
internal import Platform

/// What the operating system knows about this process.
enum ProcessEnvironment {
  /// The environment variables. Foundation has them too, but would have to be loaded at each start.
  static var variables: EnvironmentVariables { EnvironmentVariables(value: value(of:), names: names(beginning:)) }

  /// All environment variables, for a process to be started.
  static var all: [String: String] {
    let pairs = names(beginning: "").compactMap { name in value(of: name).map { (name, $0) } }
    return Dictionary(pairs) { $1 }
  }

  /// The value of a variable; `nil` if there is none.
  private static func value(of name: String) -> String? { getenv(name).map { String(cString: $0) } }

  /// The names of the variables that begin with `prefix`.
  private static func names(beginning prefix: String) -> [String] {
    var names: [String] = []
    var next = environ
    while let entry = next.pointee {
      if strncmp(entry, prefix, prefix.utf8.count) == 0, let sign = strchr(entry, 0x3d) {
        let name = UnsafeRawBufferPointer(start: entry, count: sign - entry)
        names.append(String(decoding: name, as: UTF8.self))
      }
      next += 1
    }
    return names
  }

  /// The number of the first argument that is not UTF-8, from 1; `nil` if all are. A `String` replaces invalid bytes,
  /// and would name a different file or key.
  static var malformedArgument: Int? {
    let arguments = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
    return arguments.indices.dropFirst().first { index in
      arguments[index].map { String(validatingCString: $0) == nil } ?? false
    }
  }

  /// The name of the first variable that affects this program or its files and is not UTF-8; `nil` if all are. A
  /// `String` replaces invalid bytes, and would name a different folder.
  static var malformedVariable: String? {
    let own = names(beginning: "CACHECTL_") + ["HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"]
    return own.first { name in getenv(name).map { String(validatingCString: $0) == nil } ?? false }
  }

  /// The absolute path of the user's home folder: `HOME`, otherwise the system's record of the user, otherwise the
  /// root. A relative path would depend on the working folder. To look the user up takes twenty system calls.
  static var userHome: String {
    if let home = value(of: "HOME"), home.hasPrefix("/") { return home }
    if let home = registeredHome, home.hasPrefix("/") { return home }
    return "/"
  }

  /// The home folder in the system's user database; `nil` if the user is not in it.
  private static var registeredHome: String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
      var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
      guard let start = buffer.baseAddress, getpwuid_r(geteuid(), &entry, start, buffer.count, &found) == 0,
        found != nil
      else { return nil }
      return entry.pw_dir.map { String(cString: $0) }
    }
  }

  /// The current directory; the root if it is unknown, because it was removed.
  static var workingDirectory: String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    return String(cString: path)
  }
}
