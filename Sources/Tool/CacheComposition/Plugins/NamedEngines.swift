internal import CachePresentation
internal import Spelling
internal import StorageSPI

/// The named engines that are not built in: those loaded, and the problems with the others.
struct NamedEngines {
  private let libraries: EngineLibraries
  private let builtIn: [String]
  private let searchPath: [String]
  /// The engines that were loaded, in the order in which they were named.
  private(set) var loaded: [LoadedEngine] = []
  /// The problems with the others.
  private(set) var problems: [ConfigurationError] = []

  /// Those that `libraries` finds where `settings` say.
  init(_ libraries: EngineLibraries, _ settings: ConfigurationSettings) {
    self.libraries = libraries
    builtIn = settings.table.engines.map(\.name)
    searchPath = settings[Configuration.Plugins.searchPathKey]?.value.list ?? []
  }

  /// Loads `engine`, unless it is available already.
  mutating func load(_ engine: WantedEngine) {
    let reference = engine.reference
    guard !builtIn.contains(reference), !loaded.contains(where: { $0.plugin.declaration.name == reference }) else {
      return
    }
    do throws(CacheError) {
      let library = try library(reference)
      if let other = loaded.first(where: { $0.plugin.declaration.name == library.name }) {
        if libraries.areSame(other.path, library.path) { return }
        throw CacheError(
          .invalidPlugin, "two libraries with an engine \(library.name) are named: \(other.path), \(library.path)",
          hint: "name only one of them")
      }
      loaded.append(try libraries.load(library))
    } catch {
      problems.append(problem(error, engine))
    }
  }

  /// The library that `reference` names.
  func library(_ reference: String) throws(CacheError) -> EngineLibrary {
    try libraries.library(reference, builtIn: builtIn, searchPath: searchPath)
  }

  /// `error`, caused by `engine`, as a configuration error.
  func problem(_ error: CacheError, _ engine: WantedEngine) -> ConfigurationError {
    let (reference, source, key) = (engine.reference, engine.source, engine.key)
    guard error.code == .unknownBackend else {
      return ConfigurationError(
        error.code == .permissionDenied ? .permissionDenied : .invalidPlugin, "\(source): \(error.message)",
        hint: ErrorView(error).hint, key: key, source: source)
    }
    let isFlag = if case .flag = source { true } else { false }
    let message = isFlag ? error.message : "'\(key ?? "")' cannot be \(SettingReader.shown(reference))"
    return ConfigurationError(
      .outOfRange, "\(source): \(message)",
      hint: hint(forUnknown: reference, mayBeMadeOfOthers: key == ConfigurationKey.engine), key: key, source: source)
  }

  /// A hint with the command that installs the engine called `name`, otherwise with the known names, the closest among
  /// them, and the folders searched.
  ///
  /// - Parameter mayBeMadeOfOthers: whether an engine that is made of others may be given.
  private func hint(forUnknown name: String, mayBeMadeOfOthers: Bool) -> String {
    if name == TieredSettings.name { return TieredSettings.advice }
    if let command = libraries.installCommand(for: name) { return "install it with: \(command)" }
    let found = Set(libraries.all(in: searchPath).map(\.name)).subtracting(builtIn).sorted()
    let known = builtIn + found + (mayBeMadeOfOthers ? [TieredSettings.name] : [])
    let nearest = Spelling.nearest(to: name, among: known).map { "; the nearest is \($0)" } ?? ""
    let searched = libraries.folders(searchPath)
    let folders = searched.isEmpty ? "nowhere" : "in " + searched.joined(separator: ", ")
    return "give one of \(known.joined(separator: ", "))\(nearest); "
      + "\(EngineName.file(of: name)) was looked for \(folders)"
  }
}

extension EngineLibraries {
  /// Loads the engines that `wanted` names, and says what is wrong with the others; `nil` if `settings` do not say where
  /// to look.
  func engines(
    _ wanted: [WantedEngine], _ settings: ConfigurationSettings
  ) -> (engines: [LoadedEngine], problems: [ConfigurationError])? {
    guard !settings.problems.contains(where: { $0.key == Configuration.Plugins.searchPathKey }) else { return nil }
    var engines = NamedEngines(self, settings)
    for engine in wanted { engines.load(engine) }
    return (engines.loaded, engines.problems)
  }
}
