/// The name, the help and the subcommands of a command.
public struct CommandConfiguration: Sendable {
  /// The name on the command line; `nil` for the name of the type in kebab case.
  public var commandName: String?
  /// What the command does, in one line.
  public var abstract: String
  /// Further explanations, such as examples. Paragraphs are wrapped; lines that begin with a space stay as they are.
  public var discussion: String
  /// The answer to `--version`; empty for no such option. Only the root command's counts.
  public var version: String
  private let makeSubcommands: @Sendable () -> [any ParsableCommand.Type]
  /// The subcommand to use if none is named.
  public var defaultSubcommand: (any ParsableCommand.Type)?

  /// The subcommands, in the order of help.
  ///
  /// They are made on each access: making generic ones creates types at run time, and a start that only passes through
  /// the command needs none of those.
  public var subcommands: [any ParsableCommand.Type] { makeSubcommands() }

  /// A configuration; everything has a default.
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
