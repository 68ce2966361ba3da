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
  let path: CommandPath
  /// The page that is wanted instead of the command's.
  var topic: HelpTopic?

  /// The names of the command, from the root.
  public var commandPath: [String] { path.names }

  /// The help, ending with a line break.
  ///
  /// - Parameter columns: the width of a line; less than 40 counts as 40.
  public func text(columns: Int = 80) -> String {
    let layout = HelpLayout(columns: max(40, columns))
    return topic?.text(layout) ?? HelpContent(path: path).text(layout)
  }
}

extension ParsableCommand {
  /// Parses a command line with this command as the root. Runs and prints nothing.
  ///
  /// - Parameter arguments: the words after the program's name.
  /// - Throws: the first mistake.
  public static func parseAsRoot(_ arguments: [String]) throws(CommandLineError) -> ParsedCommandLine {
    var parser = CommandLineParser(root: self, arguments: arguments)
    return try parser.parse()
  }
}
