package import CacheCore
package import EngineAPI

/// Loads the configuration: an argument of the program overrides an environment variable, which overrides the file, which
/// overrides the default.
///
/// Everything from outside is passed in; the loader reads no global state.
public struct ConfigurationLoader: Sendable {
  /// Reads the file at an absolute path: its bytes, or `nil` if there is none.
  public typealias ReadFile = @Sendable (String) throws(ConfigurationError) -> [UInt8]?

  /// Loads engines that are not part of the program, and says what is wrong with the others; `nil` if the settings do not
  /// say where to look.
  package typealias LoadEngines =
    @Sendable ([WantedEngine], ConfigurationSettings) -> (engines: [LoadedEngine], problems: [ConfigurationError])?

  /// The size limit of a configuration file, in bytes.
  public static let maximumFileSize = 1 << 20

  private let table: ConfigurationTable
  private let sections: [any ConfigurationSection.Type]
  private let environment: EnvironmentVariables
  package let locations: ConfigurationLocations
  private let loadEngines: LoadEngines?
  private let readFile: ReadFile

  /// Creates a loader.
  ///
  /// - Parameters:
  ///   - names: what the configuration is called.
  ///   - engines: the declarations of the built-in engines, the default first.
  ///   - sections: all sections, in the order of display.
  ///   - policies: the eviction policies, the default first.
  ///   - environment: the environment variables.
  ///   - workingDirectory: the absolute path of the current directory.
  ///   - userHome: the absolute path of the user's home folder; the root if there is none.
  ///   - loadEngines: finds and loads named engines that are not built in; `nil` if they cannot be named.
  ///   - readFile: reads a file; see `ConfigurationFiles.contents(of:)`.
  package init(
    names: ConfigurationNames, engines: [EngineDeclaration], sections: [any ConfigurationSection.Type],
    policies: [EvictionPolicy], environment: EnvironmentVariables, workingDirectory: String, userHome: String,
    loadEngines: LoadEngines?, readFile: @escaping ReadFile
  ) {
    table = ConfigurationTable(names, engines, sections, policies, loadsEngines: loadEngines != nil)
    self.sections = sections
    self.environment = environment
    locations = ConfigurationLocations(
      names: names, environment: environment, paths: PathResolver(base: workingDirectory, userHome: userHome))
    self.loadEngines = loadEngines
    self.readFile = readFile
  }

  /// The file that is read if it exists.
  public func file(_ flags: ConfigurationFlags = ConfigurationFlags()) -> ConfigurationFile { locations.file(flags) }

  /// The configuration. Loads the engines that it or `references` name and that are not built in.
  ///
  /// - Throws: `ConfigurationError`: the first of `problems`.
  public func load(
    _ flags: ConfigurationFlags = ConfigurationFlags(), naming references: [EngineReference] = []
  ) throws(ConfigurationError) -> Configuration {
    let home = try locations.home(flags)
    let (document, settings, engines) = try gather(flags, references, home: home.path)
    if let problem = settings.problems.first { throw problem }
    return Configuration(file: document?.path, home: home, settings, loaded: engines)
  }

  /// Checks that no two declarations are of one key. Loading does so too.
  ///
  /// - Throws: `ConfigurationError` with the code `defect`: the program is wrong, not its user.
  public func checkDeclarations() throws(ConfigurationError) {
    if let defect = table.defect { throw defect }
  }

  /// All mistakes in the configuration, at most 100: first the file's in order, then the environment's, then the
  /// flags', then contradictions, then engines that cannot be loaded.
  public func problems(_ flags: ConfigurationFlags = ConfigurationFlags()) -> [ConfigurationError] {
    do {
      return try gather(flags, [], home: try locations.home(flags).path).settings.problems
    } catch {
      return [error]
    }
  }

  /// The settings, without those of an engine that is not built in. Loads no library.
  ///
  /// - Throws: `ConfigurationError`: the configuration has a mistake.
  package func settings(_ flags: ConfigurationFlags) throws(ConfigurationError) -> ConfigurationSettings {
    try checkDeclarations()
    let settings = self.settings(table, try document(flags), flags, home: try locations.home(flags).path)
    if let problem = settings.problems.first { throw problem }
    return settings
  }

  private var names: ConfigurationNames { table.names }

  /// A configuration file that was read.
  private typealias Document = (path: String, content: JSONDocument)

  private typealias Gathered = (
    document: Document?, settings: ConfigurationSettings, engines: [LoadedEngine]
  )

  /// Gathers the settings, once if all engines are built in. Otherwise the settings say which libraries to load, and
  /// are gathered again with the options that the libraries declare.
  private func gather(
    _ flags: ConfigurationFlags, _ references: [EngineReference], home: String
  ) throws(ConfigurationError) -> Gathered {
    try checkDeclarations()
    let document = try document(flags)
    let settings = self.settings(table, document, flags, home: home)
    let wanted = settings.engineToLoad.map { [$0] } ?? []
    guard let loadEngines, !wanted.isEmpty || !references.isEmpty,
      let found = loadEngines(
        wanted + references.map { WantedEngine(reference: absolute($0.text), source: .flag($0.flag)) }, settings)
    else { return (document, settings, []) }
    let all = table.engines + found.engines.map(\.plugin.declaration)
    let completeTable = ConfigurationTable(names, all, sections, table.policies, loadsEngines: true)
    var complete = self.settings(completeTable, document, flags, home: home)
    for problem in found.problems { complete.report(problem) }
    return (document, complete, found.engines)
  }

  private func settings(
    _ table: ConfigurationTable, _ document: Document?,
    _ flags: ConfigurationFlags, home: String
  ) -> ConfigurationSettings {
    let paths = PathResolver(base: home, userHome: locations.paths.userHome)
    var settings = ConfigurationSettings(table, environment: environment, paths: paths)
    if let document { settings.apply(document.content, in: document.path) }
    settings.applyEnvironment()
    for text in flags.settings { settings.apply(assignment: text, of: names.arguments.setting) }
    if let backend = flags.backend {
      settings.apply(absolute(backend), of: flags.backendFlag ?? names.arguments.engine, path: ConfigurationKey.engine)
    }
    settings.applyRules()
    return settings
  }

  /// `reference` from the command line, with a path made absolute from the current directory.
  private func absolute(_ reference: String) -> String {
    EngineName.isPath(reference) ? locations.paths.absolute(reference) : reference
  }

  private func document(_ flags: ConfigurationFlags) throws(ConfigurationError) -> Document? {
    let file = locations.file(flags)
    if let bytes = try readFile(file.path) { return (file.path, try parse(file.path, bytes)) }
    guard file.isExplicit else { return nil }
    throw ConfigurationError(
      .missingFile, "\(file.source): there is no file \(file.path)", hint: names.missingFileHint, source: file.source)
  }

  /// The document in `bytes`, the contents of the file at `path`.
  private func parse(_ path: String, _ bytes: [UInt8]) throws(ConfigurationError) -> JSONDocument {
    guard bytes.count <= Self.maximumFileSize else {
      throw .unreadable(
        path, reason: "larger than \(ByteSizeText(bytes: Int64(Self.maximumFileSize))), the most that is read",
        hint: "shorten it, or name another file")
    }
    do { return try JSONDocument(parsing: bytes) } catch {
      throw ConfigurationError(
        .syntax, "\(path):\(error.place): \(error.message)", hint: "write the file in JSON",
        source: .file(path, error.place))
    }
  }
}

extension ConfigurationLoader {
  /// The environment variables that are named like those of a known section or engine, but are no setting. They are
  /// ignored, because they may be another program's; a user who meant a setting wants to know.
  public var ignoredVariables: [ConfigurationError] {
    environment.names(beginning: names.prefix).sorted().compactMap { name in
      guard environment[name]?.isEmpty == false, table.position(ofVariable: name) == nil,
        let hint = table.hint(forIgnored: name)
      else { return nil }
      return ConfigurationError(
        .unknownKey, "\(ConfigurationSettings.shown(key: name)) is ignored: there is no such setting", hint: hint,
        source: .variable(name))
    }
  }
}
