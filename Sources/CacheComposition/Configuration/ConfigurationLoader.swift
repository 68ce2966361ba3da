public import StorageSPI

/// Reads the configuration: flag before environment variable before file before default.
///
/// Everything from outside is passed in; the loader reads no global state.
public struct ConfigurationLoader: Sendable {
  /// Reads the file at an absolute path: its bytes, or `nil` where there is none.
  public typealias ReadFile = @Sendable (String) throws(ConfigurationError) -> [UInt8]?

  /// The size of the largest file that is read, in bytes.
  public static let maximumFileSize = 1 << 20

  private let table: ConfigurationTable
  private let environment: [String: String]
  let locations: ConfigurationLocations
  private let readFile: ReadFile

  /// A loader.
  ///
  /// - Parameters:
  ///   - engines: the declarations of the engines that can be configured.
  ///   - environment: the environment variables.
  ///   - workingDirectory: the absolute path of the current directory.
  ///   - userHome: the absolute path of the user's home folder.
  ///   - readFile: reads a file; see `ConfigurationFiles.contents(of:)`.
  public init(
    engines: [EngineDeclaration], environment: [String: String], workingDirectory: String, userHome: String,
    readFile: @escaping ReadFile
  ) {
    table = ConfigurationTable(engines)
    self.environment = environment
    locations = ConfigurationLocations(
      environment: environment, paths: PathResolver(base: workingDirectory, userHome: userHome))
    self.readFile = readFile
  }

  /// The files that are looked for, first wins.
  public func searchPath(_ flags: ConfigurationFlags = ConfigurationFlags()) -> [ConfigurationFile] {
    locations.files(flags)
  }

  /// The configuration.
  ///
  /// - Throws: `ConfigurationError`: the first of `problems`.
  public func load(_ flags: ConfigurationFlags = ConfigurationFlags()) throws(ConfigurationError) -> Configuration {
    let home = locations.home(flags)
    let (file, settings) = try gather(flags, home: home.path)
    if let problem = settings.problems.first { throw problem }
    return try Configuration(file: file, home: home, settings)
  }

  /// Everything that is wrong with the configuration, 100 mistakes at most: first the file's in their order, then the
  /// environment's, then the flags', then what does not fit together.
  public func problems(_ flags: ConfigurationFlags = ConfigurationFlags()) -> [ConfigurationError] {
    do { return try gather(flags, home: locations.home(flags).path).settings.problems } catch { return [error] }
  }

  private func gather(
    _ flags: ConfigurationFlags, home: String
  ) throws(ConfigurationError) -> (file: String?, settings: ConfigurationSettings) {
    let paths = PathResolver(base: home, userHome: locations.paths.userHome)
    var settings = ConfigurationSettings(table, environment: environment, paths: paths)
    let file = try find(flags)
    if let file { settings.apply(try parse(file), in: file.path) }
    settings.applyEnvironment()
    if let backend = flags.backend { settings.apply(flag: backend, path: "backend") }
    settings.completeOrigins()
    return (file?.path, settings)
  }

  private func find(_ flags: ConfigurationFlags) throws(ConfigurationError) -> (path: String, bytes: [UInt8])? {
    for file in locations.files(flags) {
      if let bytes = try readFile(file.path) { return (file.path, bytes) }
      guard file.isExplicit else { continue }
      throw ConfigurationError(
        .missingFile, "\(file.source): there is no file \(file.path)",
        hint: "name one that exists, or make it: cachectl config init", source: file.source)
    }
    return nil
  }

  private func parse(_ file: (path: String, bytes: [UInt8])) throws(ConfigurationError) -> JSONDocument {
    guard file.bytes.count <= Self.maximumFileSize else {
      throw .unreadable(file.path, reason: "larger than \(ByteSizeText(bytes: Int64(Self.maximumFileSize)))")
    }
    do { return try JSONDocument(parsing: file.bytes) } catch {
      throw ConfigurationError(
        .syntax, "\(file.path):\(error.place): \(error.message)", hint: "write the file in JSON",
        source: .file(file.path, error.place))
    }
  }
}
