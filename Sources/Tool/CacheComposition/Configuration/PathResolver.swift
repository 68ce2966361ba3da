internal import StorageSPI

/// Makes paths absolute.
struct PathResolver: Sendable {
  /// The absolute folder that relative paths start from.
  let base: String
  /// The absolute path of the user's home folder, which `~` stands for.
  let userHome: String

  /// `path` as an absolute path. Replaces only a leading "~" or "./"; links and ".." are left to the file system.
  func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    if path == "~" || path.hasPrefix("~/") { return (userHome == "/" ? "" : userHome) + Self.dropping(1, path) }
    var rest = path
    while rest.hasPrefix("./") {
      rest = Self.dropping(2, rest)
      while rest.hasPrefix("/") { rest = Self.dropping(1, rest) }
    }
    if rest.isEmpty || rest == "." { return base }
    return base.hasSuffix("/") ? base + rest : base + "/" + rest
  }

  /// `path` without its first `count` bytes, which are ASCII. Returns a string, not a slice: joining strings needs no
  /// conformance lookup at run time, which matters at the start of a process.
  private static func dropping(_ count: Int, _ path: String) -> String {
    String(Substring(path.utf8.dropFirst(count)))
  }

  /// `value`, with its paths made absolute if it is of a kind that has paths.
  func resolving(_ value: ConfigurationValue, _ kind: ConfigurationKind) -> ConfigurationValue {
    switch (kind, value) {
    case (.option(.path), .option(.text(let path))): .text(absolute(path))
    case (.backend, .option(.text(let reference))): EngineName.isPath(reference) ? .text(absolute(reference)) : value
    case (.paths, .list(let paths)): .list(paths.map(absolute))
    default: value
    }
  }
}
