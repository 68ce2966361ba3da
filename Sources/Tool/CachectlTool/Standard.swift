// The vocabulary of every file here, and of a resource, an engine or a command from outside.
@_exported public import CommandLineKit
@_exported public import CacheConfiguration
@_exported public import CacheData
@_exported public import CachePresentation
@_exported public import CacheCore
@_exported public import FetchVocabulary
@_exported public import EngineAPI

/// The lists of `cachectl`. A resource or a command of this package is one more line here; engines, transforms, layers
/// and policies are listed next to their protocols.
extension [any StoragePlugin] {
  /// The engines that are built in; the first is the default.
  public static var standard: Self { PluginCatalogue.builtIn.plugins }
}

extension [any TransformSettings.Type] {
  /// The payload transforms that are built in.
  public static var standard: Self { .builtIn }
}

extension [any LayerSettings.Type] {
  /// The engine layers that are built in.
  public static var standard: Self { .builtIn }
}

extension [ToolResource] {
  /// The resources of the sample app, and any URL.
  public static var standard: Self { [.cities, .movies, .poster, .url] }
}

extension [EvictionPolicy] {
  /// The eviction policies of the library; the first is the default.
  public static var standard: Self { EvictionPolicy.standard }
}

extension [any ParsableCommand.Type] {
  /// The commands besides `fetch` and `explain`.
  public static var standard: Self {
    [
      QueriesCommand.self, ListCommand.self, ShowCommand.self, RemoveCommand.self, StatsCommand.self,
      VerifyCommand.self, CompactCommand.self, ExportCommand.self, ImportCommand.self, MigrateCommand.self,
      BenchCommand.self, DoctorCommand.self, BackendsCommand.self, ConfigCommand.self,
      CompletionCommand.self,
    ]
  }
}
