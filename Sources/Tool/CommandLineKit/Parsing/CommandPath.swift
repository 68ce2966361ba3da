/// A command, reached from the root by names.
struct CommandPath: Sendable {
  private(set) var command: any ParsableCommand.Type
  /// The names of the commands from the root to this one.
  private(set) var names: [String]
  private(set) var configuration: CommandConfiguration
  /// The pages of help that are about no single command.
  private let makeTopics: @Sendable () -> [HelpTopic]

  /// The path of the root itself.
  init(root: any ParsableCommand.Type) {
    command = root
    names = [root.commandName]
    configuration = root.configuration
    makeTopics = { root.configuration.topics }
  }

  var isRoot: Bool { names.count == 1 }

  /// Whether this command only has subcommands.
  var isGroup: Bool { !configuration.subcommands.isEmpty }

  /// The pages of help that are about no single command.
  var topics: [HelpTopic] { makeTopics() }

  /// The built-in page about `help`.
  var topicOfHelp: HelpTopic { HelpTopic(listing: topics) }

  /// The names, separated by spaces.
  var text: String { names.joined(separator: " ") }

  /// The command line for this command's help.
  var helpCommand: String { Self.helpCommand(names) }

  /// The command line for the help of the command at `names`, from the root.
  static func helpCommand(_ names: [String]) -> String {
    (names.prefix(1) + ["help"] + names.dropFirst()).joined(separator: " ")
  }

  /// The names of the subcommands, in the order of help.
  var childNames: [String] { configuration.subcommands.map { $0.commandName } }

  /// The paths of the subcommands, in the order of help.
  var children: [CommandPath] { configuration.subcommands.map { appending($0) } }

  /// The path of the subcommand called `name`.
  func child(named name: String) -> CommandPath? {
    configuration.subcommands.first { $0.commandName == name }.map { appending($0) }
  }

  var defaultChild: CommandPath? { configuration.defaultSubcommand.map { appending($0) } }

  /// Passes the declarations of this command and of all commands under it to `visit`, in order, until `visit` returns
  /// true.
  func visitArguments(_ visit: (ArgumentSet) -> Bool) -> Bool {
    if visit(ArgumentSet(command)) { return true }
    // One child at a time: computing the configuration of a child takes time, and unvisited children do not need it.
    for child in configuration.subcommands where appending(child).visitArguments(visit) { return true }
    return false
  }

  /// The declarations of the first command, from this one down, that has an option `name`.
  func arguments(with name: ArgumentName) -> ArgumentSet? {
    var found: ArgumentSet?
    _ = visitArguments { set in
      if set.index(of: name) != nil { found = set }
      return found != nil
    }
    return found
  }

  /// All options of this command and of the commands under it, in order, without repeated names.
  var allNamedDefinitions: [ArgumentDefinition] {
    var seen = Set<[ArgumentName]>()
    var result: [ArgumentDefinition] = []
    _ = visitArguments { set in
      result += set.named.filter { seen.insert($0.names).inserted }
      return false
    }
    return result
  }

  /// The path of the subcommand `child`.
  func appending(_ child: any ParsableCommand.Type) -> CommandPath {
    var path = self
    path.command = child
    path.names.append(child.commandName)
    path.configuration = child.configuration
    return path
  }
}
