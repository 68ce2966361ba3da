public import StorageSPI

/// Finds and loads engines that are not part of the program.
package protocol EngineLoader: Sendable {
  /// Loads the engines that `wanted` names, and says what is wrong with the others; `nil` if `settings` do not say where
  /// to look.
  func load(
    _ wanted: [WantedEngine], _ settings: ConfigurationSettings
  ) -> (engines: [LoadedEngine], problems: [ConfigurationError])?
}

/// An engine that a setting or an argument names.
package struct WantedEngine: Sendable {
  /// The name of the engine, or the absolute path of its library.
  package let reference: String
  /// What names it.
  package let source: ConfigurationSource
  /// The path of the key that names it; `nil` for an argument.
  package var key: String?
}

/// An engine whose library was loaded.
public struct LoadedEngine: Sendable {
  /// The engine.
  public let plugin: any StoragePlugin
  /// The absolute path of its library.
  public let path: String

  /// The engine `plugin` from the library at the absolute path `path`.
  package init(plugin: any StoragePlugin, path: String) {
    (self.plugin, self.path) = (plugin, path)
  }
}
