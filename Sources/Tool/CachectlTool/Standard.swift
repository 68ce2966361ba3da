public import CachectlArguments
internal import CacheComposition
public import StorageSPI

/// The lists of `cachectl`: an engine, a resource or a command of this package is one more line.
extension [any StoragePlugin] {
  /// The engines that are built in; the first is the default.
  public static var standard: Self { PluginCatalogue.builtIn.plugins }
}

extension [ToolResource] {
  /// The resources of the sample app, and any URL.
  public static var standard: Self { [.cities, .movies, .poster, .url] }
}

extension [any ParsableCommand.Type] {
  /// The commands beside `fetch` and `explain`.
  public static var standard: Self {
    [
      QueriesCommand.self, ListCommand.self, ShowCommand.self, RemoveCommand.self, StatsCommand.self,
      VerifyCommand.self, CompactCommand.self, ExportCommand.self, ImportCommand.self, MigrateCommand.self,
      BenchCommand.self, DoctorCommand.self, BackendsCommand.self, ConfigCommand.self, CompletionCommand.self,
    ]
  }
}
