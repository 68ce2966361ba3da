internal import FetchVocabulary
internal import LMDBStorage
internal import MemoryStorage
internal import PlistStorage
internal import RedisStorage
internal import SQLiteStorage
public import EngineAPI

/// The engines that can be chosen by name. Only the following lines name them: a new engine is one more line.
public struct PluginCatalogue: Sendable {
  /// The engines that are part of this program, by the names that they declare.
  public static let standard = PluginCatalogue(engines: [
    Engine("sqlite") { SQLitePlugin() }, Engine("lmdb") { LMDBPlugin() }, Engine("plist") { PlistPlugin() },
    Engine("memory") { MemoryPlugin() }, Engine("redis") { RedisPlugin() },
  ])

  /// The engines of which `tiered` is made by default.
  static let usualTiers = (local: "lmdb", remote: "redis")

  /// An engine of a catalogue. Its plugin is made at each use: a start needs one of them.
  private struct Engine: Sendable {
    let name: String
    let plugin: @Sendable () -> any StoragePlugin
    /// The path of its library; `nil` if it is built in.
    let library: String?

    init(_ name: String, library: String? = nil, _ plugin: @escaping @Sendable () -> any StoragePlugin) {
      self.name = name
      self.plugin = plugin
      self.library = library
    }
  }

  private let engines: [Engine]

  /// The catalogue of `plugins`, whose names differ.
  public init(_ plugins: [any StoragePlugin]) {
    self.init(engines: plugins.map { plugin in Engine(plugin.declaration.name) { plugin } })
  }

  private init(engines: [Engine]) { self.engines = engines }

  /// The names of the engines, in the order of display.
  public var names: [String] { engines.map(\.name) }

  /// The plugins, in the order of display.
  public var plugins: [any StoragePlugin] { engines.map { $0.plugin() } }

  /// The declaration of each engine, in the order of display.
  public var declarations: [EngineDeclaration] { plugins.map(\.declaration) }

  /// The engines for the configuration.
  var declared: [DeclaredEngine] { engines.map { engine in DeclaredEngine(engine.name, engine.plugin().declaration) } }

  /// The plugin called `name`.
  ///
  /// - Throws: `CacheError` with the code `unknownBackend`, which lists the known names.
  public func plugin(named name: String) throws(CacheError) -> any StoragePlugin {
    guard let engine = engines.first(where: { $0.name == name }) else {
      if name == TieredSettings.name {
        throw CacheError(.unknownBackend, "\(name) is not a single engine", hint: TieredSettings.advice)
      }
      let known = names.joined(separator: ", ")
      throw CacheError(.unknownBackend, "there is no backend '\(name)'", hint: "use one of: \(known)")
    }
    return engine.plugin()
  }

  /// This catalogue with `plugins` appended; their names must be new.
  public static func + (catalogue: PluginCatalogue, plugins: [any StoragePlugin]) -> PluginCatalogue {
    PluginCatalogue(engines: catalogue.engines + PluginCatalogue(plugins).engines)
  }

  /// This catalogue with `engines` appended; their names must be new.
  public func adding(_ engines: [LoadedEngine]) -> PluginCatalogue {
    PluginCatalogue(
      engines: self.engines
        + engines.map { loaded in
          Engine(loaded.plugin.declaration.name, library: loaded.path) { loaded.plugin }
        })
  }

  /// The declarations of the engines that are built in.
  package var builtIn: [EngineDeclaration] { engines.filter { $0.library == nil }.map { $0.plugin().declaration } }

  /// The path of the library of the engine called `name`; `nil` if it is built in.
  package func path(ofLibrary name: String) -> String? { engines.first { $0.name == name }?.library }
}
