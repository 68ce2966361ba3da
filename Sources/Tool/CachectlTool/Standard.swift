// The modules that every file here uses, and a resource, an engine or a command from outside.
@_exported public import CommandLineKit
@_exported public import CacheConfiguration
@_exported public import CacheData
@_exported public import CachePresentation
@_exported public import CacheCore
@_exported public import FetchVocabulary
@_exported public import EngineAPI

/// The lists of `cachectl`. A resource or a command of this package is one more line here; engines, transforms, layers
/// and policies are listed next to their protocols.
extension [ToolResource] {
  /// Any URL, and the resources of the sample app.
  public static var standard: Self { [.url, .cities, .movies, .poster] }
}

extension [EvictionPolicy] {
  /// The eviction policies of the library; the first is the default.
  public static var standard: Self { EvictionPolicy.standard }
}

extension [CommandGroup] {
  /// The commands of this package.
  public static var standard: Self {
    [
      CommandGroup(name: "Fetch", subcommands: [FetchCommand.self, ExplainCommand.self, QueriesCommand.self]),
      CommandGroup(name: "Inspect", subcommands: [ListCommand.self, ShowCommand.self, StatsCommand.self]),
      CommandGroup(
        name: "Maintain",
        subcommands: [RemoveCommand.self, CompactCommand.self, VerifyCommand.self, DoctorCommand.self]),
      CommandGroup(name: "Move", subcommands: [ExportCommand.self, ImportCommand.self, MigrateCommand.self]),
      CommandGroup(name: "Configure", subcommands: [ConfigCommand.self, BackendsCommand.self, CompletionCommand.self]),
      CommandGroup(name: "Measure", subcommands: [BenchCommand.self]),
    ]
  }
}
