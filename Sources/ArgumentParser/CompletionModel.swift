/// What can be completed where, for every shell the same.
struct CompletionModel {
  /// What can stand in place of a value.
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
    /// What it is for.
    let abstract: String
    /// What follows; `nil` for a flag.
    let value: Value?
  }

  /// A place in the tree of commands.
  struct Node {
    /// The names from the root, with spaces between.
    let path: String
    /// The names of the subcommands, with what they do.
    var children: [(name: String, abstract: String)] = []
    /// The options that can stand here: of a group, those of all its commands.
    var options: [Option] = []
    /// What the arguments can be, in order.
    var arguments: [Value] = []
    /// Whether the last argument can be repeated.
    var isRepeating = false
  }

  /// The name of the program.
  let program: String
  /// All places, the root first.
  private(set) var nodes: [Node] = []

  /// The model of the commands under `root`.
  init(root: CommandPath) {
    program = root.text
    add(root)
    addHelp(root)
  }

  /// The name of the program as a part of the names of shell functions.
  var identifier: String {
    String(program.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
  }

  /// The places where options can stand.
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

  /// Adds `help` and, after it, the tree of commands without their options.
  private mutating func addHelp(_ path: CommandPath) {
    guard path.isGroup else { return }
    nodes.append(Node(path: path.helpCommand, children: Self.children(of: path)))
    for child in path.children { addHelp(child) }
  }

  private static func children(of path: CommandPath) -> [(name: String, abstract: String)] {
    zip(path.childNames, path.configuration.subcommands).map { ($0, $1.configuration.abstract) }
  }

  /// The options that exist without declaration.
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
  /// What `completion` offers.
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
