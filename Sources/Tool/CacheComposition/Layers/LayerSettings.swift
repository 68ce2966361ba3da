internal import EngineSupport
internal import FetchVocabulary
internal import ResponseStorage
public import ProgramConfiguration
public import StorageSPI

/// The section `layers.NAME` of an engine layer, which `cache.layers` names.
///
/// A layer is one such type in the list of the program:
///
///     struct SlowSettings: LayerSettings {
///       static let path = "layers.slow"
///       init(_ keys: inout SectionReader) {}
///       func makeLayer(over plugin: any StoragePlugin, _ place: LayerPlace) throws(CacheError) -> any StoragePlugin {
///         SlowLayer(base: plugin)
///       }
///     }
public protocol LayerSettings: ConfigurationSection {
  /// Makes the layer around `plugin`, usually an `EngineLayer`. Its name is the last one of `path`.
  ///
  /// - Throws: `CacheError`: what is missing in the settings.
  func makeLayer(over plugin: any StoragePlugin, _ place: LayerPlace) throws(CacheError) -> any StoragePlugin
}

/// Where a layer is put.
public struct LayerPlace: Sendable {
  /// What the absolute paths of files and folders beside the store begin with. Stores at different addresses have different
  /// ones.
  public let path: String
  /// The engines that a layer can use besides the one inside, without layers.
  public let engines: [any StoragePlugin]

  /// The place of a layer around a store.
  public init(path: String, engines: [any StoragePlugin]) {
    (self.path, self.engines) = (path, engines)
  }
}

/// What the paths of the sections of layers begin with.
let layersPrefix = "layers."

extension [any LayerSettings.Type] {
  /// The layers that are built in: a new one is one more line.
  public static var builtIn: Self { [ReadOnlySettings.self, TieredSettings.self] }
}

/// The section `layers.readonly`, which has no keys.
struct ReadOnlySettings: LayerSettings {
  static let path = "layers.readonly"

  init(_ keys: inout SectionReader) {}

  func makeLayer(over plugin: any StoragePlugin, _ place: LayerPlace) throws(CacheError) -> any StoragePlugin {
    ReadOnlyLayer(over: plugin)
  }
}

/// The keys of `layers.tiered`.
struct TieredSettings: LayerSettings {
  static let path = "layers.tiered"

  let near: String
  let nearMaxAge: Duration
  let limits: StoreLimits

  init(_ keys: inout SectionReader) {
    near =
      keys.key(
        "near", .option(.text), default: .text("lmdb"),
        help: "the engine on this machine that is put in front of the configured one")?.text ?? ""
    nearMaxAge = keys.duration(
      "nearMaxAge", default: .seconds(60), safety: .nothing,
      help: "how long it answers for an entry without asking, where it learns nothing of others' changes")
    limits = StoreLimits(maxEntries: keys.maxEntries(), maxBytes: keys.maxBytes())
  }

  func makeLayer(over plugin: any StoragePlugin, _ place: LayerPlace) throws(CacheError) -> any StoragePlugin {
    let known = place.engines.filter { $0.declaration.name != plugin.declaration.name }
    guard let engine = known.first(where: { $0.declaration.name == near }) else {
      let names = known.map(\.declaration.name).joined(separator: ", ")
      throw CacheError(
        .invalidOption, "'\(near)' cannot be put in front of \(plugin.declaration.name)",
        hint: "set layers.tiered.near to one of \(names)")
    }
    return TieredLayer(
      over: plugin, near: engine, folder: place.path + ".near", limits: limits, nearMaxAge: nearMaxAge)
  }
}

extension Configuration {
  /// `plugin` in the layers of `known` that `cache.layers` names, the first of them innermost.
  ///
  /// - Throws: `CacheError`: a setting of a layer is missing or wrong.
  func layered(
    _ plugin: any StoragePlugin, _ known: [any LayerSettings.Type], among engines: [any StoragePlugin]
  ) throws(CacheError) -> any StoragePlugin {
    guard !cache.layers.isEmpty else { return plugin }
    var plugin = plugin
    let path = UsageFiles.path(of: plugin.declaration, options(of: plugin.declaration.name), home: home)
    let place = LayerPlace(path: path, engines: engines)
    for name in cache.layers {
      guard let settings = known.first(where: { $0.path.dropFirst(layersPrefix.count) == name }) else { continue }
      plugin = try section(settings).makeLayer(over: plugin, place)
    }
    return plugin
  }
}
