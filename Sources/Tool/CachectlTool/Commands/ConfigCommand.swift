internal import ArgumentParser

/// `config`.
struct ConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Show, check or make the configuration",
    subcommands: [
      ShowConfiguration.self, ValidateConfiguration.self, InitConfiguration.self, PathOfConfiguration.self,
      SchemaOfConfiguration.self, TrustConfiguration.self,
    ])
}
