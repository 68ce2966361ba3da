/// The name, the help and the subcommands of a command.
public struct CommandConfiguration: Sendable {
  /// The name on the command line; `nil` for the type's name in kebab case.
  public var commandName: String?
  /// What the command does, in one line.
  public var abstract: String
  /// More about it, such as examples. Paragraphs are wrapped; lines that begin with a space are kept as they are.
  public var discussion: String
  /// What `--version` answers; empty where the option does not exist. Only the root command's counts.
  public var version: String
  private let makeSubcommands: @Sendable () -> [any ParsableCommand.Type]
  /// The subcommand that is meant where none is named.
  public var defaultSubcommand: (any ParsableCommand.Type)?

  /// The subcommands, in the order of help.
  ///
  /// They are listed each time they are asked for: to list generic ones makes types at run time, of which a start that
  /// only passes by the command needs none.
  public var subcommands: [any ParsableCommand.Type] { makeSubcommands() }

  /// A configuration with the given fields.
  public init(
    commandName: String? = nil, abstract: String = "", discussion: String = "", version: String = "",
    subcommands: @autoclosure @escaping @Sendable () -> [any ParsableCommand.Type] = [],
    defaultSubcommand: (any ParsableCommand.Type)? = nil
  ) {
    self.commandName = commandName
    self.abstract = abstract
    self.discussion = discussion
    self.version = version
    makeSubcommands = subcommands
    self.defaultSubcommand = defaultSubcommand
  }
}
