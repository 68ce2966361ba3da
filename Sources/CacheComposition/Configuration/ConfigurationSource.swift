public import StorageSPI

/// Where the value of a key comes from.
public enum ConfigurationSource: Sendable, Hashable, CustomStringConvertible {
  /// The flag of that name, with its dashes.
  case flag(String)
  /// The environment variable of that name.
  case variable(String)
  /// The file of that absolute path, and the place of the value in it.
  case file(String, SourcePlace)
  /// The value of another key, whose path this is, decides it.
  case derived(String)
  /// Nothing said otherwise.
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
