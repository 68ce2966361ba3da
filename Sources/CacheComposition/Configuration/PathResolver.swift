internal import StorageSPI

/// Makes paths absolute.
struct PathResolver: Sendable {
  /// The absolute folder that relative paths start from.
  let base: String
  /// The absolute home folder of the user, for which `~` stands.
  let userHome: String

  /// `path` made absolute. Only a leading "~" and "./" are replaced; links and ".." are for the file system to follow.
  func absolute(_ path: String) -> String {
    if path == "~" || path.hasPrefix("~/") { return userHome + path.dropFirst() }
    if path.hasPrefix("/") { return path }
    var rest = path[...]
    while rest.hasPrefix("./") { rest = rest.dropFirst(2).drop { $0 == "/" } }
    if rest.isEmpty || rest == "." { return base }
    return base.hasSuffix("/") ? base + rest : "\(base)/\(rest)"
  }

  /// `value`, its paths made absolute where it is of a kind that has some.
  func resolving(_ value: ConfigurationValue, _ kind: ConfigurationKind) -> ConfigurationValue {
    switch (kind, value) {
    case (.option(.path), .option(.text(let path))): .text(absolute(path))
    case (.paths, .list(let paths)): .list(paths.map(absolute))
    default: value
    }
  }
}
