internal import CacheComposition
internal import Glibc

/// What the operating system tells a process.
enum ProcessEnvironment {
  /// The environment variables. Foundation would answer too, at the price of more to load at each start.
  static var variables: EnvironmentVariables { EnvironmentVariables(value: value(of:), names: names(beginning:)) }

  /// All environment variables at once, for a process to be started.
  static var all: [String: String] {
    let pairs = names(beginning: "").compactMap { name in value(of: name).map { (name, $0) } }
    return Dictionary(pairs) { $1 }
  }

  /// The value of a variable; `nil` where there is none.
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

  /// The number of the first argument that is no UTF-8, from 1; `nil` where all are. In a `String` its bytes are replaced:
  /// it would name another file or key than the one that was meant.
  static var malformedArgument: Int? {
    let arguments = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
    return arguments.indices.dropFirst().first { index in
      arguments[index].map { String(validatingCString: $0) == nil } ?? false
    }
  }

  /// The first variable that says how this program works or where its files are and whose value is no UTF-8; `nil` where
  /// all are. In a `String` its bytes would be replaced: it would name another folder.
  static var malformedVariable: String? {
    let own = names(beginning: "CACHECTL_") + ["HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"]
    return own.first { name in getenv(name).map { String(validatingCString: $0) == nil } ?? false }
  }

  /// The absolute path of the user's home folder: what `HOME` says, otherwise what the system knows of the user; the
  /// root where neither tells. A relative one would depend on the working folder.
  static var userHome: String {
    [value(of: "HOME"), registeredHome].lazy.compactMap(\.self).first { $0.hasPrefix("/") } ?? "/"
  }

  /// The home folder of the user in the system's database; `nil` where that does not know the user.
  private static var registeredHome: String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
      var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
      guard let start = buffer.baseAddress, getpwuid_r(geteuid(), &entry, start, buffer.count, &found) == 0,
        found != nil
      else { return nil }
      return entry.pw_dir.map { String(cString: $0) }
    }
  }

  /// The current directory; the root where it cannot be told, because it was removed.
  static var workingDirectory: String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    return String(cString: path)
  }
}
