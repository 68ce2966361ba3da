internal import CommandLineKit
internal import FetchVocabulary

/// `completion`.
struct CompletionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "completion", abstract: "Print a completion script for a shell",
    discussion: """
      Examples:
        source <(cachectl completion bash)
        cachectl completion zsh > ~/.zsh/completions/_cachectl
        cachectl completion fish > ~/.config/fish/completions/cachectl.fish
      """)

  @Argument(help: "The shell")
  var shell: CompletionShell

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() throws {
    try Console.output.write(CachectlCommand.completionScript(for: shell))
  }
}
