internal import Base
internal import Platform

/// What the operating system knows about this process.
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
