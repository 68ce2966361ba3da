/// A shell for which a completion script can be generated.
public enum CompletionShell: String, Sendable, CaseIterable, ExpressibleByArgument {
  /// Bash, from version 3.2.
  case bash
  /// The Z shell, with its completion system.
  case zsh
  /// Fish, from version 3.0.
  case fish
}

extension ParsableCommand {
  /// A completion script for command lines with this command as the root, ending with a line break.
  ///
  /// It completes commands, options (also before the command), the values of options, and arguments. Lists of values
  /// are computed now and written into the script.
  public static func completionScript(for shell: CompletionShell) -> String {
    let model = CompletionModel(root: CommandPath(root: self))
    return switch shell {
    case .bash: BashCompletion(model: model).script
    case .zsh: ZshCompletion(model: model).script
    case .fish: FishCompletion(model: model).script
    }
  }
}

extension String {
  /// The text as one word for bash and zsh, in single quotes.
  var quotedForShell: String {
    "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }

  /// The text as one word for fish, in single quotes.
  var quotedForFish: String {
    "'" + map { $0 == "'" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "'"
  }
}
