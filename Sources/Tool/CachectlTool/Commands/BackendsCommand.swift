internal import ArgumentParser
internal import CacheComposition
internal import CacheDomain

/// `backends`.
struct BackendsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backends", abstract: "Show the storage engines, or test one",
    discussion: """
      Engines are built in, or shared libraries called libcachectl-NAME.so. A library is found by NAME in the folders \
      of the setting plugins.searchPath (CACHECTL_PLUGIN_PATH, separated by colons), or by its path, and is loaded only \
      when it is named. Other users must not be able to change it.

      Examples:
        cachectl backends
        cachectl backends show ./libcachectl-folder.so
        cachectl backends test folder
      """,
    subcommands: [ListBackends.self, ShowBackend.self, TestBackend.self], defaultSubcommand: ListBackends.self)
}

/// `backends list`.
struct ListBackends: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the storage engines",
    discussion: """
      Libraries in the search path are listed without loading them, except the one that is configured: their versions \
      and capabilities are not known then.
      """)

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() throws {
    try global.show(try AppDIContainer.ofProcess(global.configurationFlags).makeBackendsPresenter().list())
  }
}

/// `backends show`.
struct ShowBackend: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show what a storage engine can do and its options",
    discussion: """
      Examples:
        cachectl backends show sqlite
        cachectl backends show ./libcachectl-folder.so --output json
      """)

  @Argument(help: "The name of the engine, or the path of its library", completion: .backends)
  var name: String

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() throws {
    let container = try AppDIContainer.ofProcess(global.configurationFlags(backend: name))
    try global.show(try container.makeBackendsPresenter().backend(container.configuration.backend))
  }
}

extension GlobalOptions {
  /// The flags for a command about the engine that its argument names, whatever the configuration says.
  func configurationFlags(backend name: String) -> ConfigurationFlags {
    var flags = configurationFlags
    (flags.backend, flags.backendFlag) = (name, "NAME")
    return flags
  }
}
