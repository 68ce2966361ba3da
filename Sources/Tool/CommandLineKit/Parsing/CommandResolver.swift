internal import CacheBase

/// Finds the command that a command line names, and collects the options before its name.
struct CommandResolver {
  private let arguments: [String]
  private var path: CommandPath
  /// The index of the next word.
  private var index = 0
  /// The options so far, with their values.
  private var options: [String] = []
  /// The declarations that contain the last option: most likely those of the command to come.
  private var found: ArgumentSet?
  private var isHelpWanted = false
  private var isVersionWanted = false

  /// A resolver for `arguments`, the words after the program's name.
  init(root: any ParsableCommand.Type, arguments: [String]) {
    self.arguments = arguments
    path = CommandPath(root: root)
  }

  /// The request for help on the command at `names`.
  static func helpRequest(
    root: any ParsableCommand.Type, names: some Sequence<String>
  ) throws(CommandLineError) -> ParsedHelpRequest {
    var path = CommandPath(root: root)
    for name in names {
      if let child = path.child(named: name) {
        path = child
      } else if path.isRoot, name == "help" {
        return ParsedHelpRequest(path: path, isOfHelp: true)
      } else if path.isGroup {
        throw .unknownCommand(name, at: path)
      } else if ArgumentSet(path.command).positionals.isEmpty {
        throw .unexpectedArgument(name, at: path)
      } else {
        // The rest are values, such as the shell of `completion`.
        break
      }
    }
    return ParsedHelpRequest(path: path)
  }

  /// Parses the command line into a command or a request.
  mutating func parse() throws(CommandLineError) -> ParsedCommandLine {
    let version = path.configuration.version
    while path.isGroup, index < arguments.count {
      if let request = try step() { return request }
    }
    if isVersionWanted, !version.isEmpty { return .version(version) }
    if isHelpWanted || arguments.isEmpty && path.isGroup && path.defaultChild == nil {
      return .help(ParsedHelpRequest(path: path))
    }
    try descendToDefault()
    let words = options + arguments[index...]
    return try LeafParser(path: path, version: version, known: found).parse(words)
  }

  /// Reads one word; a request for help may end the parsing.
  private mutating func step() throws(CommandLineError) -> ParsedCommandLine? {
    let word = arguments[index]
    switch Token(word) {
    case .word(let name): return try command(name)
    case .terminator: try descendToDefault()
    case let token: try option(token, spelled: word)
    }
    return nil
  }

  /// Descends into the subcommand `name`, or into the default that takes it as an argument. A likely misspelling of a
  /// subcommand is not taken as an argument.
  private mutating func command(_ name: String) throws(CommandLineError) -> ParsedCommandLine? {
    if let child = path.child(named: name) {
      path = child
      index += 1
      return nil
    }
    if path.isRoot, name == "help" {
      return .help(try requestAfterHelp())
    }
    guard let child = path.defaultChild, child.isGroup || !ArgumentSet(child.command).positionals.isEmpty,
      Spelling.nearest(to: name, among: path.childNames) == nil
    else {
      throw .unknownCommand(name, at: path)
    }
    path = child
    return nil
  }

  /// The request of the words after `help`.
  private func requestAfterHelp() throws(CommandLineError) -> ParsedHelpRequest {
    var (names, wantsHelp) = ([String](), false)
    for word in arguments[(index + 1)...] {
      switch Token(word) {
      case .word(let name): names.append(name)
      case .terminator: break
      case let token where token.asksForHelp: wantsHelp = true
      default: throw .optionOfHelp(word, at: path)
      }
    }
    if names.isEmpty, wantsHelp { names = ["help"] }
    return try Self.helpRequest(root: path.command, names: names)
  }

  /// Stores an option with its value for the command that is still to come.
  private mutating func option(_ token: Token, spelled word: String) throws(CommandLineError) {
    if token.asksForHelp, token != .cluster("h") || path.arguments(with: .short("h")) == nil {
      isHelpWanted = true
    } else if token.asksForVersion, !CommandPath(root: path.commands[0]).configuration.version.isEmpty {
      isVersionWanted = true
    } else {
      options.append(word)
      if try takesNextWord(token), index + 1 < arguments.count {
        index += 1
        options.append(arguments[index])
      }
    }
    index += 1
  }

  /// Whether the next word is the value of the option.
  private mutating func takesNextWord(_ token: Token) throws(CommandLineError) -> Bool {
    switch token {
    case .word, .terminator: return false
    case .long(let name, let value):
      return try known(.long(name)).kind == .option && value == nil
    case .cluster(let letters):
      for (offset, letter) in letters.enumerated() where try known(.short(letter), in: letters).kind == .option {
        return offset == letters.count - 1
      }
      return false
    }
  }

  /// The option `name` of any command that can still follow.
  private mutating func known(
    _ name: ArgumentName, in letters: String = ""
  ) throws(CommandLineError) -> ArgumentDefinition {
    found = path.arguments(with: name)
    if let definition = found?[name] { return definition }
    let spelled = name.isShort ? "-" + letters : name.text
    throw .unknownOption(spelled, among: path.allNamedDefinitions, at: path)
  }

  /// Descends into default subcommands as far as they go.
  private mutating func descendToDefault() throws(CommandLineError) {
    while path.isGroup {
      guard let child = path.defaultChild else { throw .missingCommand(at: path) }
      path = child
    }
  }
}
