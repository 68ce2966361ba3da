internal import CachePresentation
internal import LibraryStorage
internal import CacheBase
internal import EngineAPI

/// Finds the engines that are shared libraries, and loads the named ones.
///
/// It searches only once an engine is named that is not built in.
public struct EngineLibraries: Sendable {
  private let files: any FileInspection
  private let loadPlugin: @Sendable (EngineLibrary) throws(CacheError) -> any StoragePlugin

  /// The libraries of the file system.
  ///
  /// - Parameter willLoad: called with each library right before it is loaded.
  public init(willLoad: @escaping @Sendable (EngineLibrary) -> Void = { _ in }) {
    self.init(files: SystemFileInspection()) { library throws(CacheError) in
      willLoad(library)
      return try LibraryPlugin(loading: library.path)
    }
  }

  init(
    files: any FileInspection,
    load: @escaping @Sendable (EngineLibrary) throws(CacheError) -> any StoragePlugin
  ) {
    self.files = files
    loadPlugin = load
  }

  /// Whether two paths lead to the same file.
  func areSame(_ left: String, _ right: String) -> Bool {
    (files.realPath(of: left) ?? left) == (files.realPath(of: right) ?? right)
  }

  /// The libraries that a search of `searchPath` finds, ordered by folder, then by name. Missing and unreadable folders
  /// count as empty.
  func all(in searchPath: [String]) -> [EngineLibrary] {
    var seen: Set<String> = []
    return searchPath.flatMap { folder in
      files.names(in: folder).compactMap { file in
        EngineName.name(ofLibrary: file).map { EngineLibrary(name: $0, path: Self.path(of: file, in: folder)) }
      }
    }.filter { seen.insert(files.realPath(of: $0.path) ?? $0.path).inserted }
  }

  /// The library for `reference`, the name of an engine or an absolute path.
  ///
  /// - Throws: `CacheError`: `unknownBackend` if a search of `searchPath` finds no library of that name,
  ///   `invalidPlugin` if two have, or if the path has no library, or an unusable one.
  func library(
    _ reference: String, builtIn: [String], searchPath: [String]
  ) throws(CacheError) -> EngineLibrary {
    EngineName.isPath(reference)
      ? try library(at: reference, builtIn: builtIn) : try library(named: reference, searchPath: searchPath)
  }

  private func library(at path: String, builtIn: [String]) throws(CacheError) -> EngineLibrary {
    guard let name = EngineName.name(ofLibrary: path) else {
      throw CacheError(
        .invalidPlugin, "\(path) is not called like the library of an engine",
        hint: "such a file is called \(EngineName.file(of: "NAME")), NAME in lower-case letters and digits")
    }
    if builtIn.contains(name) {
      throw CacheError(
        .invalidPlugin, "\(path) is called like the built-in engine \(name)",
        hint: "use that one, or give the library's engine another name")
    }
    guard files.file(at: path) != nil else {
      throw CacheError(
        .invalidPlugin, "there is no library \(path)", hint: "see which there are with: cachectl backends list")
    }
    return EngineLibrary(name: name, path: path)
  }

  private func library(named name: String, searchPath: [String]) throws(CacheError) -> EngineLibrary {
    let paths = searchPath.map { Self.path(of: EngineName.file(of: name), in: $0) }
    var seen: Set<String> = []
    let found = paths.filter { path in files.realPath(of: path).map { seen.insert($0).inserted } ?? false }
    guard let first = found.first else {
      throw CacheError(.unknownBackend, "there is no backend '\(name)'")
    }
    guard found.count == 1 else {
      throw CacheError(
        .invalidPlugin, "backend \(name) is in more than one folder: \(found.joined(separator: ", "))",
        hint: "name one by its path, or remove the others")
    }
    return EngineLibrary(name: name, path: first)
  }

  private static func path(of file: String, in folder: String) -> String {
    folder.hasSuffix("/") ? folder + file : folder + "/" + file
  }
}

/// A shared library with an engine, not yet loaded.
public struct EngineLibrary: Sendable, Hashable {
  /// The name of the engine, taken from the file's name.
  public let name: String
  /// The absolute path of the library.
  public let path: String
}

/// The libraries in the search path that are not loaded, sorted by whether they can be used.
package struct FoundLibraries {
  /// Those that can be chosen by name.
  package let usable: [EngineLibrary]
  /// The names that several libraries share: only their paths tell them apart.
  package let ambiguous: Set<String>
  /// Those with the name of a built-in engine, which takes precedence.
  package let unusable: [EngineLibrary]

  package init(_ libraries: EngineLibraries, searchPath: [String], catalogue: PluginCatalogue) {
    let found = libraries.all(in: searchPath)
    let builtIn = catalogue.builtIn.map(\.name)
    unusable = found.filter { builtIn.contains($0.name) }
    usable = found.filter { library in
      let loaded = catalogue.path(ofLibrary: library.name)
      return !builtIn.contains(library.name) && loaded.map { !libraries.areSame($0, library.path) } ?? true
    }
    let names = found.map(\.name)
    ambiguous = Set(names.filter { name in names.count { $0 == name } > 1 })
  }
}

/// The engines that the configuration or a command names.
extension EngineLibraries {
  /// Loads the engines that `wanted` names and that are not built in, and says what is wrong with the others. If the
  /// search path has a mistake, none is loaded.
  func engines(
    _ wanted: [EngineReference], _ settings: SectionReader
  ) -> (engines: [LoadedEngine], problems: [ConfigurationError]) {
    var engines: [LoadedEngine] = []
    var problems: [ConfigurationError] = []
    if settings.problems.contains(where: { $0.key == Configuration.Plugins.searchPathKey }) { return ([], []) }
    let known = settings.engines.map(\.name)
    for reference in wanted {
      let loaded = engines.map(\.plugin.declaration.name)
      if (known + loaded).contains(reference.text) { continue }
      do throws(CacheError) {
        let library = try library(
          reference.text, builtIn: known, searchPath: settings.section(Configuration.Plugins.self).searchPath)
        guard let index = loaded.firstIndex(of: library.name) else {
          engines.append(LoadedEngine(plugin: try loadPlugin(library), path: library.path))
          continue
        }
        let other = engines[index].path
        if areSame(other, library.path) { continue }
        throw CacheError(
          .invalidPlugin, "two libraries with an engine \(library.name) are named: \(other), \(library.path)",
          hint: "name only one of them")
      } catch {
        problems.append(problem(error, reference, settings))
      }
    }
    return (engines, problems)
  }

  /// The mistake that the engine that `reference` names cannot be used because of `error`.
  private func problem(
    _ error: CacheError, _ reference: EngineReference, _ settings: SectionReader
  ) -> ConfigurationError {
    let (name, source, key) = (reference.text, reference.source, reference.key)
    guard error.code == .unknownBackend else {
      return ConfigurationError(
        error.code == .permissionDenied ? .permissionDenied : .invalidPlugin, "\(source): \(error.message)",
        hint: ErrorView(error).hint, key: key, source: source)
    }
    let isFlag = if case .flag = source { true } else { false }
    let message = isFlag ? error.message : "'\(key ?? "")' cannot be \(name.shown)"
    let hint = name == TieredSettings.name ? TieredSettings.advice : hint(forUnknown: name, key, settings)
    return ConfigurationError(.outOfRange, "\(source): \(message)", hint: hint, key: key, source: source)
  }

  /// A hint with the known names, the one closest to `name` among them, and the folders searched.
  private func hint(forUnknown name: String, _ key: String?, _ settings: SectionReader) -> String {
    let searchPath = settings.section(Configuration.Plugins.self).searchPath
    let builtIn = settings.engines.map(\.name)
    let found = Set(all(in: searchPath).map(\.name)).subtracting(builtIn).sorted()
    // The configured engine might be made of others.
    let known = builtIn + found + (key == Setting.engine ? [TieredSettings.name] : [])
    let nearest = Spelling.nearest(to: name, among: known).map { "; the nearest is \($0)" } ?? ""
    let folders = searchPath.isEmpty ? "nowhere" : "in " + searchPath.joined(separator: ", ")
    return "give one of \(known.joined(separator: ", "))\(nearest); "
      + "\(EngineName.file(of: name)) was looked for \(folders)"
  }
}
