internal import FetchVocabulary
internal import LMDBStorage
internal import MemoryStorage
internal import PlistStorage
internal import RedisStorage
internal import SQLiteStorage
public import EngineAPI

/// The engines that can be chosen by name. Only the following lines name them: a new engine is one more line.
public struct PluginCatalogue: Sendable {
  /// The engines that are part of this program.
  public static let builtIn = PluginCatalogue([
    SQLitePlugin(), LMDBPlugin(), PlistPlugin(), MemoryPlugin(), RedisPlugin(),
  ])

  /// The engines of which `tiered` is made by default.
  static let usualTiers = (local: "lmdb", remote: "redis")

  /// The plugins, in the order of display.
  public let plugins: [any StoragePlugin]
  private var libraries: [EngineLibrary] = []

  /// The catalogue of `plugins`, whose names differ.
  public init(_ plugins: [any StoragePlugin]) {
    self.plugins = plugins
  }

  /// The declaration of each engine, in the order of display.
  public var declarations: [EngineDeclaration] { plugins.map(\.declaration) }

  /// The plugin called `name`.
  ///
  /// - Throws: `CacheError` with the code `unknownBackend`, which lists the known names.
  public func plugin(named name: String) throws(CacheError) -> any StoragePlugin {
    guard let plugin = plugins.first(where: { $0.declaration.name == name }) else {
      if name == TieredSettings.name {
        throw CacheError(.unknownBackend, "\(name) is not a single engine", hint: TieredSettings.advice)
      }
      let known = declarations.map(\.name).joined(separator: ", ")
      throw CacheError(.unknownBackend, "there is no backend '\(name)'", hint: "use one of: \(known)")
    }
    return plugin
  }

  /// This catalogue with `engines` appended; their names must be new.
  public func adding(_ engines: [LoadedEngine]) -> PluginCatalogue {
    if engines.isEmpty { return self }
    var catalogue = PluginCatalogue(plugins + engines.map(\.plugin))
    catalogue.libraries =
      libraries + engines.map { EngineLibrary(name: $0.plugin.declaration.name, path: $0.path) }
    return catalogue
  }

  package var builtIn: [EngineDeclaration] { declarations.filter { path(ofLibrary: $0.name) == nil } }

  /// The path of the library of the engine called `name`; `nil` if it is built in.
  package func path(ofLibrary name: String) -> String? { libraries.first { $0.name == name }?.path }
}
