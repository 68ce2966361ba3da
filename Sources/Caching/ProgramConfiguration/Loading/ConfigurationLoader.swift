package import ResponseStorage
package import StorageSPI

/// Loads the configuration: an argument of the program overrides an environment variable, which overrides the file, which
/// overrides the default.
///
/// Everything from outside is passed in; the loader reads no global state.
public struct ConfigurationLoader: Sendable {
  /// Reads the file at an absolute path: its bytes, or `nil` if there is none.
  public typealias ReadFile = @Sendable (String) throws(ConfigurationError) -> [UInt8]?

  /// The size limit of a configuration file, in bytes.
  public static let maximumFileSize = 1 << 20

  private let table: ConfigurationTable
  private let sections: [any ConfigurationSection.Type]
  private let environment: EnvironmentVariables
  package let locations: ConfigurationLocations
  /// Loads the engines that are not part of the program; `nil` if no others can be named.
  package let engineLoader: (any EngineLoader)?
  let files: any FileInspection
  let readFile: ReadFile

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
  ///   - engineLoader: finds and loads named engines that are not built in; `nil` if they cannot be named.
  ///   - files: examines links and trust records.
  ///   - readFile: reads a file; see `ConfigurationFiles.contents(of:)`.
  package init(
    names: ConfigurationNames, engines: [EngineDeclaration], sections: [any ConfigurationSection.Type],
    policies: [EvictionPolicy], environment: EnvironmentVariables, workingDirectory: String, userHome: String,
    engineLoader: (any EngineLoader)?, files: any FileInspection, readFile: @escaping ReadFile
  ) {
    table = ConfigurationTable(names, engines, sections, policies, loadsEngines: engineLoader != nil)
    self.sections = sections
    self.environment = environment
    locations = ConfigurationLocations(
      names: names, environment: environment, paths: PathResolver(base: workingDirectory, userHome: userHome))
    self.engineLoader = engineLoader
    self.files = files
    self.readFile = readFile
  }

  /// The candidate files, the first found wins.
  public func searchPath(_ flags: ConfigurationFlags = ConfigurationFlags()) -> [ConfigurationFile] {
    locations.files(flags)
  }

  /// The configuration. Loads the engines that it or `references` name and that are not built in.
  ///
  /// - Throws: `ConfigurationError`: the first of `problems`.
  public func load(
    _ flags: ConfigurationFlags = ConfigurationFlags(), naming references: [EngineReference] = []
  ) throws(ConfigurationError) -> Configuration {
    let home = try locations.home(flags)
    let (document, settings, engines) = try gather(flags, references, home: home.path)
    if let problem = settings.problems.first { throw problem }
    return Configuration(document, home: home, settings, loaded: engines)
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
      try checkDeclarations()
      if let document = try document(flags), !document.trust.permits {
        let mistakes = try examine(document.content, in: document.path, flags).problems.filter { !isSetElsewhere($0) }
        return (flags.vouchesForFile ? [document.refusal(names)].compactMap(\.self) : []) + mistakes
      }
      return try gather(flags, [], home: try locations.home(flags).path).settings.problems
    } catch {
      return [error]
    }
  }

  /// Whether the existing file may be used; `nil` if there is none.
  ///
  /// - Throws: `ConfigurationError`: the file cannot be read, or is not JSON.
  public func trust(
    _ flags: ConfigurationFlags = ConfigurationFlags()
  ) throws(ConfigurationError) -> ConfigurationTrust? {
    try document(flags)?.trust
  }

  /// The settings, without those of an engine that is not built in. Loads no library.
  ///
  /// - Throws: `ConfigurationError`: the configuration has a mistake.
  package func settings(_ flags: ConfigurationFlags) throws(ConfigurationError) -> ConfigurationSettings {
    try checkDeclarations()
    let settings = self.settings(table, try usableDocument(flags), flags, home: try locations.home(flags).path)
    if let problem = settings.problems.first { throw problem }
    return settings
  }

  private var names: ConfigurationNames { table.names }

  private typealias Gathered = (
    document: ConfigurationDocument?, settings: ConfigurationSettings, engines: [LoadedEngine]
  )

  /// Gathers the settings, once if all engines are built in. Otherwise the settings say which libraries to load, and
  /// are gathered again with the options that the libraries declare.
  private func gather(
    _ flags: ConfigurationFlags, _ references: [EngineReference], home: String
  ) throws(ConfigurationError) -> Gathered {
    try checkDeclarations()
    let document = try usableDocument(flags)
    let settings = self.settings(table, document, flags, home: home)
    let wanted = settings.engineToLoad.map { [$0] } ?? []
    guard let engineLoader, !wanted.isEmpty || !references.isEmpty,
      let found = engineLoader.load(
        wanted + references.map { WantedEngine(reference: absolute($0.text), source: .flag($0.flag)) }, settings)
    else { return (document, settings, []) }
    let all = table.engines + found.engines.map(\.plugin.declaration)
    let completeTable = ConfigurationTable(names, all, sections, table.policies, loadsEngines: true)
    var complete = self.settings(completeTable, document, flags, home: home)
    for problem in found.problems { complete.report(problem) }
    return (document, complete, found.engines)
  }

  private func settings(
    _ table: ConfigurationTable, _ document: ConfigurationDocument?,
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

  /// The file to use.
  ///
  /// - Throws: `ConfigurationError`, with the code `untrusted` if there is a file that must not be used.
  private func usableDocument(_ flags: ConfigurationFlags) throws(ConfigurationError) -> ConfigurationDocument? {
    let document = try document(flags)
    if let refusal = document?.refusal(names) { throw refusal }
    return document
  }

  private func document(_ flags: ConfigurationFlags) throws(ConfigurationError) -> ConfigurationDocument? {
    guard let (file, bytes) = try find(flags) else { return nil }
    let content = try parse(file.path, bytes)
    let unsafe = file.isVouchedFor ? [] : try examine(content, in: file.path, flags).unsafe
    return ConfigurationDocument(
      file: file, content: content, unsafeSettings: unsafe, trust: trust(in: file, bytes, setting: unsafe))
  }

  /// The lists of sections in the user's own file, such as the transforms of payloads, that `settings` has otherwise. By
  /// taking the place of that file, it would have written in the clear what the user wants to be sealed.
  private func displacedLists(
    by settings: ConfigurationSettings, _ paths: PathResolver
  ) throws(ConfigurationError) -> [UnsafeSetting] {
    guard let bytes = try bytes(of: locations.own) else { return [] }
    var own = ConfigurationSettings(table, environment: [:], paths: paths)
    own.apply(try parse(locations.own.path, bytes), in: locations.own.path)
    return table.keys.compactMap { key in
      guard case .sections? = key.rule, let list = own[key.path]?.value.list, !list.isEmpty else { return nil }
      let other = settings[key.path]?.value.list ?? []
      return other == list ? nil : UnsafeSetting(key: key.path, value: .array(other.map { .string($0) }))
    }
  }

  private func trust(
    in file: ConfigurationFile, _ bytes: [UInt8], setting unsafe: [UnsafeSetting]
  ) -> ConfigurationTrust {
    if file.isVouchedFor { return .own }
    if unsafe.isEmpty { return .harmless }
    let path = files.realPath(of: file.path) ?? file.path
    guard let record = trustRecords.record(for: path) else { return .needed(isChanged: false) }
    return record == TrustRecord(path: path, contents: bytes) ? .trusted : .needed(isChanged: true)
  }

  /// Whether `problem` is a missing value that an environment variable gives.
  private func isSetElsewhere(_ problem: ConfigurationError) -> Bool {
    guard problem.code == .missing, let position = problem.key.flatMap({ table.position(ofPath: $0) }),
      let variable = table.keys[position].variable
    else { return false }
    return environment[names.prefix + variable]?.isEmpty == false
  }

  /// The mistakes in `content` of the file `file`, also those between its values, and its settings that need trust.
  /// Loads no library and reads no environment variable.
  func examine(
    _ content: JSONDocument, in file: String, _ flags: ConfigurationFlags
  ) throws(ConfigurationError) -> (problems: [ConfigurationError], unsafe: [UnsafeSetting]) {
    let home = try locations.home(flags).path
    let paths = PathResolver(base: home, userHome: locations.paths.userHome)
    var settings = ConfigurationSettings(table, environment: [:], paths: paths)
    settings.apply(content, in: file)
    let places = TrustedPlaces(builtInEngines: table.engines.map(\.name), home: home, files: files)
    var unsafe = settings.unsafeSettings(places)
    for displaced in try displacedLists(by: settings, paths) where !unsafe.contains(where: { $0.key == displaced.key })
    {
      unsafe.append(displaced)
    }
    settings.applyRules()
    return (settings.problems, unsafe)
  }

  /// The records of the files that the user trusts.
  var trustRecords: TrustRecords { TrustRecords(folder: locations.trust, files: files) }

  private func find(
    _ flags: ConfigurationFlags
  ) throws(ConfigurationError) -> (file: ConfigurationFile, bytes: [UInt8])? {
    for file in locations.files(flags) {
      if let bytes = try bytes(of: file) { return (file, bytes) }
      guard file.isExplicit else { continue }
      throw ConfigurationError(
        .missingFile, "\(file.source): there is no file \(file.path)",
        hint: names.advice.missingFile, source: file.source)
    }
    return nil
  }

  /// The contents of `file`; `nil` if it does not exist. A file that was merely found may be a pipe, and reading it
  /// would block.
  func bytes(of file: ConfigurationFile) throws(ConfigurationError) -> [UInt8]? {
    if !file.isVouchedFor, !file.isExplicit, files.file(at: file.path)?.kind == .other {
      throw .unreadable(file.path, reason: "not a regular file")
    }
    return try readFile(file.path)
  }

  /// The document in `bytes`, the contents of the file at `path`.
  func parse(_ path: String, _ bytes: [UInt8]) throws(ConfigurationError) -> JSONDocument {
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
