internal import CommandLineKit

/// The root of all commands.
struct CachectlCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cachectl",
    abstract: "A response cache whose storage engine is chosen by configuration",
    discussion: """
      Answers from the cache where it can, otherwise from the origin. Options may stand before or after the \
      command.

      Examples:
        cachectl fetch cities --order revenue
        cachectl --backend lmdb fetch movies --query "star wars"
        cachectl ls --state stale
      """,
    version: "cachectl \(Cachectl.version)",
    subcommands: [FetchCommand.self, ExplainCommand.self] + Cachectl.current.commands)
}
