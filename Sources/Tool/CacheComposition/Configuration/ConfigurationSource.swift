public import StorageSPI

/// The source of a key's value.
public enum ConfigurationSource: Sendable, Hashable, CustomStringConvertible {
  /// The flag of that name, with its dashes.
  case flag(String)
  /// The environment variable of that name.
  case variable(String)
  /// The file at that absolute path, and the place of the value in it.
  case file(String, SourcePlace)
  /// Another key, with this path, decides it.
  case derived(String)
  /// The default: no other source has a value.
  case `default`

  /// The source in a few words, such as "/etc/cachectl.json:3:5", "CACHECTL_HOME" or "default".
  public var description: String {
    switch self {
    case .flag(let name): name
    case .variable(let name): name
    case .file(let path, let place): "\(path):\(place)"
    case .derived(let key): "follows from \(key)"
    case .default: "default"
    }
  }
}
