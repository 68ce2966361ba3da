internal import CacheBase

/// Finds the command that a command line names, collects the options before its name, and makes the command of its words.
struct CommandLineParser {
  private let arguments: [String]
  private var path: CommandPath
  /// The answer to `--version`; empty for no such option.
  private let version: String
  /// The index of the next word.
  private var index = 0
  /// The options so far, with their values.
  private var options: [String] = []
  /// The declarations that contain the last option: most likely those of the command to come.
  private var found: ArgumentSet?
  private var isHelpWanted = false
  private var isVersionWanted = false

  /// A parser for `arguments`, the words after the program's name.
  init(root: any ParsableCommand.Type, arguments: [String]) {
    self.arguments = arguments
    path = CommandPath(root: root)
    version = path.configuration.version
  }

  /// The command with its values, or the request for help or the version among the words.
  mutating func parse() throws(CommandLineError) -> ParsedCommandLine {
    while path.isGroup, index < arguments.count {
      if let request = try step() { return request }
    }
    if isVersionWanted { return .version(version) }
    if isHelpWanted || arguments.isEmpty && path.isGroup && path.defaultChild == nil {
      return .help(ParsedHelpRequest(path: path))
    }
    try descendToDefault()
    let set = if let found, found.type == path.command { found } else { ArgumentSet(path.command) }
    if let defect = set.defect ?? set.repetition { throw .defect(defect, at: path) }
    let words = options + arguments[index...]
    let tokens = words.prefix { $0 != "--" }.lazy.map { Token($0) }
    let isShortFree = set.index(of: .short("h")) == nil
    if tokens.contains(where: { $0.asksForHelp && (isShortFree || $0 != .cluster("h")) }) {
      return .help(ParsedHelpRequest(path: path))
    }
    if !version.isEmpty, set.index(of: .long("version")) == nil, tokens.contains(where: \.asksForVersion) {
      return .version(version)
    }
    var reader = TokenReader(set: set, path: path, words: words)
    return .command(try command(set, try reader.read()), path: path.names)
  }

  /// The command with its values made from `texts`, which are in the order of the declarations of `set`.
  private func command(
    _ set: ArgumentSet, _ texts: [[String]]
  ) throws(CommandLineError) -> any ParsableCommand {
    var boxes: [ValueBox] = []
    for (definition, texts) in zip(set.definitions, texts) { boxes.append(try box(definition, texts)) }
    do {
      var command = try path.command.init(from: ArgumentDecoder(values: boxes))
      try command.validate()
      return command
    } catch let error as ValidationError {
      throw CommandLineError(error, in: path.names)
    } catch {
      throw .defect("'\(path.text)' cannot be made: \(error)", at: path)
    }
  }

  private func box(_ definition: ArgumentDefinition, _ texts: [String]) throws(CommandLineError) -> ValueBox {
    // As an unset variable of a script leaves it.
    if texts.contains(""), definition.kind != .flag, let noun = definition.valueDescription.completion.pathNoun {
      throw .emptyPath(of: noun, for: definition, at: path)
    }
    do {
      return try definition.read(texts)
    } catch {
      switch error {
      case .missing: throw .missing(definition, at: path)
      case .malformed(let text): throw .malformedValue(text, for: definition, at: path)
      }
    }
  }

  /// Reads one word; a request for help can end the parsing.
  private mutating func step() throws(CommandLineError) -> ParsedCommandLine? {
    let word = arguments[index]
    switch Token(word) {
    case .word(let name): return try descend(to: name)
    case .terminator: try descendToDefault()
    case let token: try option(token, spelled: word)
    }
    return nil
  }

  /// Descends into the subcommand `name`, or into the default that takes it as an argument. A likely misspelling of a
  /// subcommand is not taken as an argument.
  private mutating func descend(to name: String) throws(CommandLineError) -> ParsedCommandLine? {
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
    var path = path
    for name in names {
      if let child = path.child(named: name) {
        path = child
      } else if path.isRoot, let topic = (path.topics + [path.topicOfHelp]).first(where: { $0.name == name }) {
        return ParsedHelpRequest(path: path, topic: topic)
      } else if path.isGroup {
        throw .unknownCommand(name, or: path.isRoot ? path.topics : [], at: path)
      } else if ArgumentSet(path.command).positionals.isEmpty {
        throw .unexpectedArgument(name, at: path)
      } else {
        // The rest are values, such as the shell of `completion`.
        break
      }
    }
    return ParsedHelpRequest(path: path)
  }

  /// Stores an option with its value for the command that is still to come.
  private mutating func option(_ token: Token, spelled word: String) throws(CommandLineError) {
    if token.asksForHelp, token != .cluster("h") || path.arguments(with: .short("h")) == nil {
      isHelpWanted = true
    } else if token.asksForVersion, !version.isEmpty {
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
    let next = nextCommand
    if found.map({ $0.type != next }) ?? true { found = ArgumentSet(next) }
    if let definition = found?[name] { return definition }
    found = path.arguments(with: name)
    if let definition = found?[name] { return definition }
    throw .unknownOption(name, in: letters, among: path.allNamedDefinitions, at: path)
  }

  /// The command that the next words name, if none of them is the value of an option: most likely the one to come.
  private var nextCommand: any ParsableCommand.Type {
    var path = path
    for word in arguments[index...] where path.isGroup && word.utf8.first != UInt8(ascii: "-") {
      path = path.child(named: word) ?? path
    }
    while let child = path.defaultChild { path = child }
    return path.command
  }

  /// Descends into default subcommands as far as they go.
  private mutating func descendToDefault() throws(CommandLineError) {
    while path.isGroup {
      guard let child = path.defaultChild else { throw .missingCommand(at: path) }
      path = child
    }
  }
}
