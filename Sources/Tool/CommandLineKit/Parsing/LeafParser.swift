/// Parses the words for one command, once the command is known.
struct LeafParser {
  private let path: CommandPath
  /// The answer to `--version`; empty for no such option.
  private let version: String
  private let set: ArgumentSet

  /// A parser for the command at `path`; `known` saves reading its declarations again, if they are its own.
  init(path: CommandPath, version: String, known: ArgumentSet? = nil) {
    self.path = path
    self.version = version
    set = if let known, known.type == path.command { known } else { ArgumentSet(path.command) }
  }

  /// The command with its values, or the request for help or the version among the words.
  func parse(_ words: [String]) throws(CommandLineError) -> ParsedCommandLine {
    if let defect = set.defect ?? set.repetition {
      throw CommandLineError(.defect, defect, remedy: "correct the declarations in the program.", at: path)
    }
    let tokens = words.prefix { $0 != "--" }.lazy.map { Token($0) }
    let isShortFree = set.index(of: .short("h")) == nil
    if tokens.contains(where: { $0.asksForHelp && (isShortFree || $0 != .cluster("h")) }) {
      return .help(ParsedHelpRequest(path: path))
    }
    if !version.isEmpty, set.index(of: .long("version")) == nil, tokens.contains(where: \.asksForVersion) {
      return .version(version)
    }
    var reader = TokenReader(set: set, path: path, words: words)
    return .command(try make(try reader.read()), path: path.names)
  }

  /// The command with its values made from `texts`, which are in the order of the declarations.
  private func make(_ texts: [[String]]) throws(CommandLineError) -> any ParsableCommand {
    var boxes: [ValueBox] = []
    for (definition, texts) in zip(set.definitions, texts) { boxes.append(try box(definition, texts)) }
    do {
      var command = try path.command.init(from: ArgumentDecoder(values: boxes))
      try command.validate()
      return command
    } catch let error as ValidationError {
      throw CommandLineError(.invalidCombination, error.message, at: path)
    } catch {
      throw CommandLineError(.defect, "'\(path.text)' cannot be made: \(error)", at: path)
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
}
