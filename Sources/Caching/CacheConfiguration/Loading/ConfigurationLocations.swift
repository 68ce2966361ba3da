internal import CacheBase
internal import EngineAPI

/// Where to look for the file and the home.
package struct ConfigurationLocations: Sendable {
  let names: ConfigurationNames
  let environment: EnvironmentVariables
  /// Makes paths absolute from the current directory.
  let paths: PathResolver

  /// The program's own variables that have a value, by their names without the program's prefix.
  var variables: [String] {
    environment.names(beginning: names.prefix).filter { environment[$0]?.isEmpty == false }
      .map { String($0.dropFirst(names.prefix.count)) }.filter { !ConfigurationNames.ownVariables.contains($0) }
      .sorted()
  }

  /// The file to read: the named one, otherwise the one in the user's folder for configurations.
  func file(_ flags: ConfigurationFlags) -> ConfigurationFile {
    if let file = explicit(flags.file, names.arguments.file, names.fileVariable) {
      return ConfigurationFile(path: file.path, source: file.source, isExplicit: true)
    }
    let (folder, source) = folder("XDG_CONFIG_HOME", otherwise: "~/.config")
    return ConfigurationFile(path: "\(folder)/\(names.program)/config.json", source: source, isExplicit: false)
  }

  /// The folder for stores.
  ///
  /// - Throws: `ConfigurationError` if no setting gives the folder and the user has no home folder.
  package func home(
    _ flags: ConfigurationFlags
  ) throws(ConfigurationError) -> (path: String, source: ConfigurationSource) {
    if flags.home?.isEmpty == true {
      throw ConfigurationError(
        .malformed, "\(names.arguments.home) is empty", hint: "name the directory of the stores",
        source: .flag(names.arguments.home))
    }
    if let home = explicit(flags.home, names.arguments.home, names.homeVariable) { return home }
    let (folder, source) = folder("XDG_CACHE_HOME", otherwise: "~/.cache")
    guard source != .default || paths.userHome != "/" else {
      throw ConfigurationError(
        .missing, "there is no directory for stores: HOME is not set, or is the root directory",
        hint: "set HOME to your own directory, or \(names.homeVariable) to the directory of the stores")
    }
    return ("\(folder)/\(names.program)", source)
  }

  private func explicit(
    _ value: String?, _ flag: String, _ variable: String
  ) -> (path: String, source: ConfigurationSource)? {
    if let value { return (paths.absolute(value), .flag(flag)) }
    guard let value = environment[variable], !value.isEmpty else { return nil }
    return (paths.absolute(value), .variable(variable))
  }

  /// A folder of the XDG Base Directory Specification, which says to ignore a relative one.
  private func folder(_ variable: String, otherwise path: String) -> (path: String, source: ConfigurationSource) {
    guard let value = environment[variable], value.hasPrefix("/") else { return (paths.absolute(path), .default) }
    return (value, .variable(variable))
  }
}

/// A file that can hold the configuration.
public struct ConfigurationFile: Sendable, Hashable {
  /// Its absolute path.
  public let path: String
  /// The origin of its name.
  public let source: ConfigurationSource
  /// Whether the user named the file, by a flag or a variable. It must exist then.
  public let isExplicit: Bool
}

/// Makes paths absolute.
package struct PathResolver: Sendable {
  /// The absolute folder that relative paths start from.
  let base: String
  /// The absolute path of the user's home folder, which `~` stands for.
  let userHome: String

  /// A resolver of paths that start from the absolute folder `base`, for a user whose home folder is `userHome`.
  package init(base: String, userHome: String) {
    self.base = base
    self.userHome = userHome
  }

  /// `path` as an absolute path. Replaces only a leading "~" or "./"; links and ".." are left to the file system.
  package func absolute(_ path: String) -> String {
    let path = HomeFolder.expanded(path, home: userHome)
    if path.hasPrefix("/") { return path }
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
}

/// The names in a program's configuration: of its files, directories, variables and arguments.
package struct ConfigurationNames: Sendable {
  /// The program's name, which is in the names of its files and folders.
  package let program: String
  /// The prefix of its environment variables, such as "WEATHER_".
  package let prefix: String
  /// The program's names for the arguments that override everything else.
  let arguments: (file: String, home: String, engine: String, setting: String)
  /// The hint after a named file that does not exist, in one line.
  let missingFileHint: String

  /// The names of `program`.
  ///
  /// - Parameters:
  ///   - prefix: what the names of its variables begin with, in upper case, with an underscore at its end.
  ///   - arguments: what users call the arguments that override everything else.
  ///   - missingFileHint: the hint after a named file that does not exist.
  package init(
    _ program: String, prefix: String, arguments: (file: String, home: String, engine: String, setting: String),
    missingFileHint: String
  ) {
    self.program = program
    self.prefix = prefix
    self.arguments = arguments
    self.missingFileHint = missingFileHint
  }

  /// The variables that name the file and the folder for stores, without the prefix.
  static var ownVariables: [String] { ["CONFIG", "HOME"] }
  var fileVariable: String { prefix + "CONFIG" }
  /// The variable that names the folder for stores.
  var homeVariable: String { prefix + "HOME" }
}
