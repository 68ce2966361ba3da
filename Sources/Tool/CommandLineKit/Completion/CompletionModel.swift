/// What can be completed where, common to all shells.
struct CompletionModel {
  /// The kind of a value to complete.
  enum Value: Hashable {
    case anything
    case words([String])
    case file(extensions: [String])
    case directory
    case asked(topic: String)
  }

  /// An option or a flag.
  struct Option {
    /// All names, with their dashes.
    let names: [String]
    /// Its purpose.
    let abstract: String
    /// The value that follows; `nil` for a flag.
    let value: Value?
  }

  /// A node in the tree of commands.
  struct Node {
    /// The names from the root, separated by spaces.
    let path: String
    /// The names and purposes of the subcommands.
    var children: [(name: String, abstract: String)] = []
    /// The options allowed here; for a group, those of all its commands.
    var options: [Option] = []
    /// The values of the arguments, in order.
    var arguments: [Value] = []
    /// Whether the last argument repeats.
    var isRepeating = false
  }

  /// The name of the program.
  let program: String
  /// All nodes, the root first.
  private(set) var nodes: [Node] = []

  /// The model of the commands under `root`.
  init(root: CommandPath) {
    program = root.text
    add(root)
    addHelp(root)
  }

  /// The name of the program in a form for names of shell functions.
  var identifier: String {
    String(program.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
  }

  /// The nodes that allow options.
  var nodesWithOptions: [Node] { nodes.filter { !$0.options.isEmpty } }

  private mutating func add(_ path: CommandPath) {
    var node = Node(path: path.text, children: Self.children(of: path))
    if path.isRoot, path.isGroup { node.children.append(("help", "Show the help of a command")) }
    node.options = path.allNamedDefinitions.map(Option.init) + Self.builtIn(path)
    let positionals = ArgumentSet((path.defaultChild ?? path).command).positionals
    node.arguments = positionals.map { Value($0.valueDescription.completion) }
    node.isRepeating = positionals.last?.isRepeating ?? false
    nodes.append(node)
    for child in path.children { add(child) }
  }

  /// Adds `help` and, under it, the tree of commands without their options.
  private mutating func addHelp(_ path: CommandPath) {
    guard path.isGroup else { return }
    nodes.append(Node(path: path.helpCommand, children: Self.children(of: path)))
    for child in path.children { addHelp(child) }
  }

  private static func children(of path: CommandPath) -> [(name: String, abstract: String)] {
    zip(path.childNames, path.configuration.subcommands).map { ($0, $1.configuration.abstract) }
  }

  /// The built-in options.
  private static func builtIn(_ path: CommandPath) -> [Option] {
    let help = Option(names: ["-h", "--help"], abstract: "Show this help", value: nil)
    guard path.isRoot, !path.configuration.version.isEmpty else { return [help] }
    return [help, Option(names: ["--version"], abstract: "Show the version", value: nil)]
  }
}

extension CompletionModel.Option {
  /// The option that `definition` declares.
  fileprivate init(_ definition: ArgumentDefinition) {
    names = definition.names.map(\.text)
    abstract = definition.help.abstract
    value = definition.kind == .option ? CompletionModel.Value(definition.valueDescription.completion) : nil
  }
}

extension CompletionModel.Value {
  /// The value for `completion`.
  fileprivate init(_ completion: CompletionKind) {
    switch completion.kind {
    case .default: self = .anything
    case .list(let values): self = .words(values())
    case .file(let extensions): self = .file(extensions: extensions)
    case .directory: self = .directory
    case .asked(let topic): self = .asked(topic: topic)
    }
  }
}

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
