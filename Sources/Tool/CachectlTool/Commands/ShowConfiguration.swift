internal import ArgumentParser
internal import CacheComposition
internal import CacheDomain
internal import CachePresentation

/// `config show`.
struct ShowConfiguration: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show the value of every setting",
    discussion: "With --output json, and without --origin, it prints a valid configuration file.")

  @Flag(help: "Say of each value where it comes from")
  var origin = false

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() throws {
    let configuration = try ConfigurationLoader.ofProcess.load(global.configurationFlags)
    try global.show(SettingsView(configuration, showsOrigin: origin))
  }
}

/// `config schema`.
struct SchemaOfConfiguration: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Print the JSON Schema of the configuration file")

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() throws {
    try Console.output.write(Cachectl.current.configurationSchema)
  }
}
