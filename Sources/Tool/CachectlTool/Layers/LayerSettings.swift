public import EngineAPI
internal import FetchVocabulary
public import CacheConfiguration

/// The section `layers.NAME` of an engine layer, which `cache.layers` names.
///
/// A layer is one such type in the list of the program:
///
///     struct SlowSettings: LayerSettings {
///       static let path = "layers.slow"
///       init(_ keys: inout SectionReader) {}
///       func makeLayer(over plugin: any StoragePlugin) throws(CacheError) -> any StoragePlugin { SlowLayer(base: plugin) }
///     }
public protocol LayerSettings: ConfigurationSection {
  /// Makes the layer around `plugin`, usually an `EngineLayer`. Its name is the last one of `path`.
  ///
  /// - Throws: `CacheError`, which names the missing setting.
  func makeLayer(over plugin: any StoragePlugin) throws(CacheError) -> any StoragePlugin
}

/// The prefix of the paths of layers' sections.
let layersPrefix = "layers."

extension [any LayerSettings.Type] {
  /// The layers that are built in: a new one is one more line.
  public static var standard: Self { [ReadOnlySettings.self] }
}

/// The section `layers.readonly`, which has no keys.
struct ReadOnlySettings: LayerSettings {
  static let path = "layers.readonly"

  init(_ keys: inout SectionReader) {}

  func makeLayer(over plugin: any StoragePlugin) throws(CacheError) -> any StoragePlugin { ReadOnlyLayer(over: plugin) }
}

extension Configuration {
  /// `plugin` in the layers of `known` that `cache.layers` names, the first of them innermost.
  ///
  /// - Throws: `CacheError`: a setting of a layer is missing.
  func layered(
    _ plugin: any StoragePlugin, _ known: [any LayerSettings.Type]
  ) throws(CacheError) -> any StoragePlugin {
    var plugin = plugin
    for name in cache.layers {
      guard let settings = known.first(where: { $0.path == layersPrefix + name }) else { continue }
      plugin = try section(settings).makeLayer(over: plugin)
    }
    return plugin
  }
}
