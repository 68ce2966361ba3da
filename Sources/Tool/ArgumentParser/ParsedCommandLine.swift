/// The meaning of a command line.
public enum ParsedCommandLine {
  /// Run a command, whose names from the root are `path`.
  case command(any ParsableCommand, path: [String])
  /// Show help.
  case help(ParsedHelpRequest)
  /// Show this version.
  case version(String)
}

/// A request for the help of a command.
public struct ParsedHelpRequest: Sendable {
  /// The path of the command.
  let path: CommandPath
  /// Whether the command is the built-in `help`.
  var isOfHelp = false

  /// The names of the command, from the root.
  public var commandPath: [String] { path.names }

  /// The help, ending with a line break.
  ///
  /// - Parameter columns: the width of a line; less than 40 counts as 40.
  public func text(columns: Int = 80) -> String {
    let generator = HelpGenerator(path: path, columns: columns)
    return isOfHelp ? generator.textOfHelp : generator.text
  }
}

extension ParsableCommand {
  /// Parses a command line with this command as the root. Runs and prints nothing.
  ///
  /// - Parameter arguments: the words after the program's name.
  /// - Throws: the first mistake.
  public static func parseAsRoot(_ arguments: [String]) throws(CommandLineError) -> ParsedCommandLine {
    var resolver = CommandResolver(root: self, arguments: arguments)
    return try resolver.parse()
  }

  /// The help of the subcommand at `names`, ending with a line break.
  ///
  /// - Parameters:
  ///   - names: the names of subcommands, without the root's.
  ///   - columns: the width of a line; less than 40 counts as 40.
  /// - Throws: an error if there is no such command.
  public static func helpMessage(for names: [String] = [], columns: Int = 80) throws(CommandLineError) -> String {
    try CommandResolver.helpRequest(root: self, names: names).text(columns: columns)
  }
}
