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

/// The values of options by node, as the branches of a shell's `case` over "node option".
///
/// An option with the same value at every node needs one pattern.
struct OptionValueTable {
  /// A value with the options that take it.
  struct Branch {
    /// The value.
    let value: CompletionModel.Value
    /// The options that take it at every node.
    var options: [String] = []
    /// The nodes, each with an option that takes it only there.
    var places: [String] = []
  }

  /// The branches, in the order of declaration.
  private(set) var branches: [Branch] = []

  /// The table of `model`.
  init(_ model: CompletionModel) {
    var values: [String: Set<CompletionModel.Value?>] = [:]
    let entries = model.nodes.flatMap { node in
      node.options.flatMap { option in option.names.map { (place: node.path, name: $0, value: option.value) } }
    }
    for entry in entries { values[entry.name, default: []].insert(entry.value) }
    for entry in entries {
      guard let value = entry.value else { continue }
      add(entry.name, at: values[entry.name]?.count == 1 ? nil : entry.place, value)
    }
  }

  private mutating func add(_ name: String, at place: String?, _ value: CompletionModel.Value) {
    let index = branches.firstIndex { $0.value == value } ?? branches.endIndex
    if index == branches.endIndex { branches.append(Branch(value: value)) }
    if let place {
      branches[index].places.append("\(place) \(name)")
    } else if !branches[index].options.contains(name) {
      branches[index].options.append(name)
    }
  }
}
