/// What a command line asks for.
public enum ParsedCommandLine {
  /// To run a command, whose names from the root are `path`.
  case command(any ParsableCommand, path: [String])
  /// To show help.
  case help(ParsedHelpRequest)
  /// To show the version, which is given.
  case version(String)
}

/// The wish to see the help of a command.
public struct ParsedHelpRequest: Sendable {
  /// The command in question.
  let path: CommandPath
  /// Whether it is `help` itself, which is built in.
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
  /// Reads a command line of which this command is the root. Nothing is run or printed.
  ///
  /// - Parameter arguments: the words after the program's name.
  /// - Throws: the first mistake.
  public static func parseAsRoot(_ arguments: [String]) throws(CommandLineError) -> ParsedCommandLine {
    var resolver = CommandResolver(root: self, arguments: arguments)
    return try resolver.parse()
  }

  /// The help of the command that `names` lead to from this one, ending with a line break.
  ///
  /// - Parameters:
  ///   - names: the names of subcommands, without the root's.
  ///   - columns: the width of a line; less than 40 counts as 40.
  /// - Throws: that there is no such command.
  public static func helpMessage(for names: [String] = [], columns: Int = 80) throws(CommandLineError) -> String {
    try CommandResolver.helpRequest(root: self, names: names).text(columns: columns)
  }
}
