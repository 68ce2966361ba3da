/// Where the file and the home are looked for.
struct ConfigurationLocations: Sendable {
  let environment: EnvironmentVariables
  /// Relative paths start from the current directory.
  let paths: PathResolver

  /// The files to try, in order; where one was named explicitly, that one alone.
  func files(_ flags: ConfigurationFlags) -> [ConfigurationFile] {
    if let file = explicit(flags.file, "--config", "CACHECTL_CONFIG") {
      return [ConfigurationFile(path: file.path, source: file.source)]
    }
    let (folder, source) = folder("XDG_CONFIG_HOME", otherwise: "~/.config")
    return [
      ConfigurationFile(path: paths.absolute("cachectl.json"), source: .default),
      ConfigurationFile(path: "\(folder)/cachectl/config.json", source: source),
    ]
  }

  /// The folder in which stores live.
  func home(_ flags: ConfigurationFlags) -> (path: String, source: ConfigurationSource) {
    if let home = explicit(flags.home, "--home", "CACHECTL_HOME") { return home }
    let (folder, source) = folder("XDG_CACHE_HOME", otherwise: "~/.cache")
    return ("\(folder)/cachectl", source)
  }

  private func explicit(
    _ value: String?, _ flag: String, _ variable: String
  ) -> (path: String, source: ConfigurationSource)? {
    if let value { return (paths.absolute(value), .flag(flag)) }
    guard let value = environment[variable], !value.isEmpty else { return nil }
    return (paths.absolute(value), .variable(variable))
  }

  /// A folder of the XDG Base Directory Specification: a relative one is to be ignored.
  private func folder(_ variable: String, otherwise path: String) -> (path: String, source: ConfigurationSource) {
    guard let value = environment[variable], value.hasPrefix("/") else { return (paths.absolute(path), .default) }
    return (value, .variable(variable))
  }
}

/// A file that may hold the configuration.
public struct ConfigurationFile: Sendable, Hashable {
  /// Its absolute path.
  public let path: String
  /// What names it. Where that is a flag or `CACHECTL_CONFIG`, the file must exist.
  public let source: ConfigurationSource

  /// Whether the user named the file.
  public var isExplicit: Bool { source == .flag("--config") || source == .variable("CACHECTL_CONFIG") }
}
