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
  private let environment: EnvironmentVariables
  let locations: ConfigurationLocations
  let libraries: EngineLibraries
  private let readFile: ReadFile

  /// A loader.
  ///
  /// - Parameters:
  ///   - engines: the declarations of the engines that are built in.
  ///   - environment: the environment variables.
  ///   - workingDirectory: the absolute path of the current directory.
  ///   - userHome: the absolute path of the user's home folder.
  ///   - libraries: finds and loads the engines that are named and not built in.
  ///   - readFile: reads a file; see `ConfigurationFiles.contents(of:)`.
  public init(
    engines: [EngineDeclaration], environment: EnvironmentVariables, workingDirectory: String, userHome: String,
    libraries: EngineLibraries = EngineLibraries(), readFile: @escaping ReadFile
  ) {
    table = ConfigurationTable(engines)
    self.environment = environment
    locations = ConfigurationLocations(
      environment: environment, paths: PathResolver(base: workingDirectory, userHome: userHome))
    self.libraries = libraries
    self.readFile = readFile
  }

  /// The files that are looked for, first wins.
  public func searchPath(_ flags: ConfigurationFlags = ConfigurationFlags()) -> [ConfigurationFile] {
    locations.files(flags)
  }

  /// The configuration. Engines that it or `references` name and that are not built in are loaded.
  ///
  /// - Throws: `ConfigurationError`: the first of `problems`.
  public func load(
    _ flags: ConfigurationFlags = ConfigurationFlags(), naming references: [EngineReference] = []
  ) throws(ConfigurationError) -> Configuration {
    let home = locations.home(flags)
    let (file, settings, engines) = try gather(flags, references, home: home.path)
    if let problem = settings.problems.first { throw problem }
    return try Configuration(file: file, home: home, settings, loaded: engines)
  }

  /// Everything that is wrong with the configuration, 100 mistakes at most: first the file's in their order, then the
  /// environment's, then the flags', then what does not fit together, then engines that cannot be had.
  public func problems(_ flags: ConfigurationFlags = ConfigurationFlags()) -> [ConfigurationError] {
    do { return try gather(flags, [], home: locations.home(flags).path).settings.problems } catch { return [error] }
  }

  /// The library of the engine that `flags.backend` names, which is not loaded; `nil` where the engine is built in.
  ///
  /// - Throws: `ConfigurationError`: what is wrong with the configuration, or there is no such library.
  public func library(_ flags: ConfigurationFlags) throws(ConfigurationError) -> EngineLibrary? {
    let settings = self.settings(table, try document(flags), flags, home: locations.home(flags).path)
    if let problem = settings.problems.first { throw problem }
    guard let (reference, source) = settings.backendToLoad else { return nil }
    let engines = namedEngines(settings)
    do throws(StorageError) { return try engines.library(reference) } catch {
      throw engines.problem(error, reference, source, ConfigurationKey.engine)
    }
  }

  private typealias Gathered = (file: String?, settings: ConfigurationSettings, engines: [LoadedEngine])

  /// Where all engines are built in, that is all. Otherwise the settings say which libraries to load, and are made
  /// again with the options that those declare.
  private func gather(
    _ flags: ConfigurationFlags, _ references: [EngineReference], home: String
  ) throws(ConfigurationError) -> Gathered {
    let document = try document(flags)
    let settings = self.settings(table, document, flags, home: home)
    let backend = settings.backendToLoad
    guard backend != nil || !references.isEmpty, settings.saysWhereLibrariesAre else {
      return (document?.path, settings, [])
    }
    var engines = namedEngines(settings)
    if let backend { engines.load(backend.reference, from: backend.source, key: ConfigurationKey.engine) }
    for reference in references { engines.load(absolute(reference.text), from: .flag(reference.flag)) }
    let all = table.engines + engines.loaded.map(\.plugin.declaration)
    var complete = self.settings(ConfigurationTable(all), document, flags, home: home)
    for problem in engines.problems { complete.report(problem) }
    return (document?.path, complete, engines.loaded)
  }

  private func namedEngines(_ settings: ConfigurationSettings) -> NamedEngines {
    NamedEngines(
      libraries, builtIn: table.engines.map(\.name), searchPath: settings.list(ConfigurationKey.searchPath))
  }

  private func settings(
    _ table: ConfigurationTable, _ document: (path: String, content: JSONDocument)?,
    _ flags: ConfigurationFlags, home: String
  ) -> ConfigurationSettings {
    let paths = PathResolver(base: home, userHome: locations.paths.userHome)
    var settings = ConfigurationSettings(table, environment: environment, paths: paths)
    if let document { settings.apply(document.content, in: document.path) }
    settings.applyEnvironment()
    if let backend = flags.backend {
      settings.apply(absolute(backend), of: flags.backendFlag, path: ConfigurationKey.engine)
    }
    settings.completeOrigins()
    return settings
  }

  /// `reference`, which stands on the command line: a path there is relative to the current directory.
  private func absolute(_ reference: String) -> String {
    EngineName.isPath(reference) ? locations.paths.absolute(reference) : reference
  }

  private func document(
    _ flags: ConfigurationFlags
  ) throws(ConfigurationError) -> (path: String, content: JSONDocument)? {
    guard let file = try find(flags) else { return nil }
    return (file.path, try parse(file))
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
