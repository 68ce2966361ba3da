internal import LibraryStorage
internal import StorageSPI

/// Finds the engines that are shared libraries, and loads the named ones.
///
/// It searches only once an engine is named that is not built in.
public struct EngineLibraries: Sendable {
  private let files: any FileInspection
  /// Looked up only where a search needs it: most processes do not search.
  private let installation: @Sendable () -> EngineInstallation?
  private let loadPlugin: @Sendable (EngineLibrary) throws(CacheError) -> any StoragePlugin

  /// The libraries of the file system.
  ///
  /// - Parameters:
  ///   - installation: finds those installed with the program; by default there are none.
  ///   - willLoad: called with each library right before it is loaded.
  public init(
    installation: @escaping @Sendable () -> EngineInstallation? = { nil },
    willLoad: @escaping @Sendable (EngineLibrary) -> Void = { _ in }
  ) {
    self.init(files: SystemFileInspection(), installation: installation) { library throws(CacheError) in
      willLoad(library)
      return try LibraryPlugin(loading: library.path)
    }
  }

  init(
    files: any FileInspection, installation: @escaping @Sendable () -> EngineInstallation? = { nil },
    load: @escaping @Sendable (EngineLibrary) throws(CacheError) -> any StoragePlugin
  ) {
    self.files = files
    self.installation = installation
    loadPlugin = load
  }

  /// Loads `library`.
  ///
  /// - Throws: `CacheError`: `permissionDenied` if other users may change it, `invalidPlugin` if it is not a plugin.
  func load(_ library: EngineLibrary) throws(CacheError) -> LoadedEngine {
    LoadedEngine(plugin: try loadPlugin(library), path: library.path)
  }

  /// Whether two paths lead to the same file.
  func areSame(_ left: String, _ right: String) -> Bool {
    (files.realPath(of: left) ?? left) == (files.realPath(of: right) ?? right)
  }

  /// The folders to search: those of `searchPath`, then the one of the program's installation.
  func folders(_ searchPath: [String]) -> [String] {
    guard let own = installation()?.folder, !searchPath.contains(own) else { return searchPath }
    return searchPath + [own]
  }

  /// The command that installs the library of the engine called `name`; `nil` if there is none.
  func installCommand(for name: String) -> String? { installation()?.command(for: name) }

  /// The libraries that a search of `searchPath` finds, ordered by folder, then by name. Missing and unreadable folders
  /// count as empty.
  func all(in searchPath: [String]) -> [EngineLibrary] {
    var seen: Set<String> = []
    return folders(searchPath).flatMap { folder in
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
    let paths = folders(searchPath).map { Self.path(of: EngineName.file(of: name), in: $0) }
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
    let builtIn = catalogue.declarations.map(\.name).filter { catalogue.path(ofLibrary: $0) == nil }
    unusable = found.filter { builtIn.contains($0.name) }
    usable = found.filter { library in
      let loaded = catalogue.path(ofLibrary: library.name)
      return !builtIn.contains(library.name) && loaded.map { !libraries.areSame($0, library.path) } ?? true
    }
    let names = found.map(\.name)
    ambiguous = Set(names.filter { name in names.count { $0 == name } > 1 })
  }
}

/// Where the libraries lie that were installed together with the program, and the command that installs more of them.
///
/// A program in PREFIX/bin has them in PREFIX/lib/cachectl. A program elsewhere, such as one in the folder it was built
/// in, uses those below `~/.local`, the default prefix of an installation.
public struct EngineInstallation: Sendable {
  /// The absolute path of the folder with the libraries, which need not exist.
  public let folder: String
  private let prefix: String
  private let isDefault: Bool

  /// The installation that the program at the absolute path `program` belongs to, for a user whose home folder is
  /// `userHome`. With `nil`, because the path is unknown, it is the default one.
  public init(program: String?, userHome: String) {
    let home = PathResolver(base: "/", userHome: userHome).absolute("~/.local")
    let names = program?.split(separator: "/") ?? []
    let isInstalled = names.count > 1 && names[names.count - 2] == "bin"
    prefix = isInstalled ? names.dropLast(2).map { "/" + $0 }.joined() : home
    isDefault = prefix == home
    folder = prefix + "/lib/cachectl"
  }

  /// The installation of this process's program.
  public static func ofProcess(userHome: String) -> EngineInstallation {
    EngineInstallation(program: SystemFileInspection().target(of: "/proc/self/exe"), userHome: userHome)
  }

  /// The command that installs the library of the engine called `name`; `nil` if this project has no such library. What
  /// is below /usr belongs to the system's packages.
  func command(for name: String) -> String? {
    guard let package = PluginCatalogue.package(of: name) else { return nil }
    if prefix == "/usr" { return "apt install cachectl-\(package)" }
    return "./install \(isDefault ? "" : "--prefix \(prefix) ")--with \(package)"
  }
}
