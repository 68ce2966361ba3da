internal import CacheBase
package import CacheCore
internal import EngineAPI

/// Loads the configuration: an argument of the program overrides an environment variable, which overrides the file, which
/// overrides the default.
///
/// Everything from outside is passed in; the loader reads no global state.
public struct ConfigurationLoader: Sendable {
  /// Reads the file at an absolute path: its bytes, or `nil` if there is none.
  public typealias ReadFile = @Sendable (String) throws(ConfigurationError) -> [UInt8]?

  /// The size limit of a configuration file, in bytes.
  public static let maximumFileSize = 1 << 20

  /// Loads engines that are not part of the program, and says what is wrong with the others. The reader has read the
  /// sections that come first.
  package typealias LoadEngines =
    @Sendable ([EngineReference], SectionReader) -> (engines: [LoadedEngine], problems: [ConfigurationError])

  /// The names of the configuration's parts.
  package let names: ConfigurationNames
  /// The places in which to look for the file and the home.
  package let locations: ConfigurationLocations
  private let program: ProgramDeclarations
  private let loadEngines: LoadEngines?
  private let readFile: ReadFile

  /// Creates a loader.
  ///
  /// - Parameters:
  ///   - names: what the configuration is called.
  ///   - engines: the built-in engines, the default first.
  ///   - first: the sections with the keys outside of all objects, and those on which it depends what engine is loaded.
  ///   - common: the sections that every command needs.
  ///   - sections: all others, in the order of display.
  ///   - policies: the eviction policies, the default first.
  ///   - environment: the environment variables.
  ///   - workingDirectory: the absolute path of the current directory.
  ///   - userHome: the absolute path of the user's home folder; the root if there is none.
  ///   - loadEngines: finds and loads named engines that are not built in; `nil` if they cannot be named.
  ///   - readFile: reads a file; see `ConfigurationFiles.contents(of:)`.
  package init(
    names: ConfigurationNames, engines: [DeclaredEngine], first: [any ConfigurationSection.Type] = [],
    common: [any ConfigurationSection.Type],
    sections: @autoclosure @escaping @Sendable () -> [any ConfigurationSection.Type], policies: [EvictionPolicy],
    environment: EnvironmentVariables, workingDirectory: String, userHome: String, loadEngines: LoadEngines? = nil,
    readFile: @escaping ReadFile
  ) {
    self.names = names
    program = ProgramDeclarations(
      engines: engines, loadsEngines: loadEngines != nil, first: first, common: common, others: sections,
      policies: policies)
    self.loadEngines = loadEngines
    self.readFile = readFile
    locations = ConfigurationLocations(
      names: names, environment: environment, paths: PathResolver(base: workingDirectory, userHome: userHome))
  }

  /// The file that is read if it exists.
  public func file(_ flags: ConfigurationFlags = ConfigurationFlags()) -> ConfigurationFile { locations.file(flags) }

  /// The configuration. Loads the engines that it or `references` name and that are not built in.
  ///
  /// - Throws: `ConfigurationError`: the first of its mistakes.
  public func load(
    _ flags: ConfigurationFlags = ConfigurationFlags(), naming references: [EngineReference] = []
  ) throws(ConfigurationError) -> Configuration {
    let home = try locations.home(flags)
    let sources = try sources(flags, home: home.path)
    if references.isEmpty {
      var reader = SectionReader(sources, program)
      if reader.readCommonKeys() { return Configuration(home: home, reader) }
    }
    let (configuration, problems) = read(sources, home: home, naming: references)
    guard let configuration else { throw problems[0] }
    return configuration
  }

  /// The configuration, or its mistakes, at most 100: first the file's, in the order of their places, then the
  /// environment's, then the flags'. Loads the same engines as `load`.
  public func read(
    _ flags: ConfigurationFlags = ConfigurationFlags(), naming references: [EngineReference] = []
  ) -> (configuration: Configuration?, problems: [ConfigurationError]) {
    do throws(ConfigurationError) {
      let home = try locations.home(flags)
      return read(try sources(flags, home: home.path), home: home, naming: references)
    } catch {
      return (nil, [error])
    }
  }

  /// Checks that no two declarations are of one key. `read` does so too.
  ///
  /// - Throws: `ConfigurationError` with the code `defect`: the program is wrong, not its user.
  public func checkDeclarations() throws(ConfigurationError) {
    if let defect = declared.defect { throw defect }
  }

  /// The environment variables that are named like those of a known section or engine, but are not settings. They are
  /// ignored, because they might be another program's; a user who meant a setting wants to know.
  public var ignoredVariables: [ConfigurationError] {
    declared.unknownVariables(locations.variables).filter { !$0.isMistake }.map { variable in
      let source = ConfigurationSource.variable(names.prefix + variable.name)
      return ConfigurationError(
        .unknownKey, "\(source) is ignored: there is no such setting", hint: variable.hint, source: source)
    }
  }

  /// Every key with its default, whatever is configured. The schema, the example and the manual are derived from them.
  package var declared: SectionReader { SectionReader(SettingSources(names: names), program).completed() }

  /// The configuration in `sources`, or its mistakes. Every key is read.
  ///
  /// - Parameter references: engines that are needed besides the one with the store.
  private func read(
    _ sources: SettingSources, home: (path: String, source: ConfigurationSource), naming references: [EngineReference]
  ) -> (configuration: Configuration?, problems: [ConfigurationError]) {
    let references = references.map { EngineReference(absolute($0.text), $0.source) }
    var loaded: [LoadedEngine] = []
    var reader = SectionReader(sources, program)
    reader.readAll { reader in
      let wanted = (reader.engineToLoad.map { [$0] } ?? []) + references
      guard let loadEngines, !wanted.isEmpty else { return }
      let found = loadEngines(wanted, reader)
      loaded = found.engines
      for plugin in loaded.map(\.plugin) {
        reader.engines.append(DeclaredEngine(plugin.declaration.name, plugin.declaration))
      }
      for problem in found.problems { reader.report(problem) }
    }
    if let defect = reader.defect { return (nil, [defect]) }
    let problems = reader.sortedProblems
    guard problems.isEmpty else { return (nil, problems) }
    return (Configuration(home: home, reader, naming: references, loaded: loaded), [])
  }

  /// The unchecked values of the configuration, by their sources.
  private func sources(_ flags: ConfigurationFlags, home: String) throws(ConfigurationError) -> SettingSources {
    var sources = SettingSources(names: names, environment: locations.environment, variables: locations.variables)
    sources.paths = PathResolver(base: home, userHome: locations.paths.userHome)
    sources.file = try document(flags).map { ($0.path, $0.content.root) }
    for text in flags.settings {
      let sign = text.utf8.firstIndex(of: UInt8(ascii: "="))
      let path = sign.map { String(text[..<$0]) } ?? ""
      let value = sign.map { path.isEmpty ? text : String(text[text.utf8.index(after: $0)...]) } ?? text
      sources.assignments.append((path, value, names.arguments.setting))
    }
    if let backend = flags.backend {
      sources.assignments.append((Setting.engine, absolute(backend), flags.backendFlag ?? names.arguments.engine))
    }
    return sources
  }

  /// `reference` from the command line, with a path made absolute from the current directory.
  private func absolute(_ reference: String) -> String {
    EngineName.isPath(reference) ? locations.paths.absolute(reference) : reference
  }

  private func document(
    _ flags: ConfigurationFlags
  ) throws(ConfigurationError) -> (path: String, content: JSONDocument)? {
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
