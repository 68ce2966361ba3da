/// An unfinished command line, from a completion script.
///
/// The script runs the program with the word `__complete`, the name of the shell, and the words up to the cursor, of which
/// the last one is being typed. The first line of the answer is `words`, followed by a line for each word that can stand
/// there; or `folders`, `files` or `files` with extensions, which the shell knows how to complete.
public struct CompletionRequest: Sendable {
  /// The first argument of such a run.
  static let command = "__complete"

  /// The beginning of the word or of the value that is being typed.
  public private(set) var beginning: String
  private let shell: CompletionShell
  /// The words before the one that is being typed.
  private let words: [String]
  /// The number of characters at the end of `beginning` that the shell replaces.
  private let replacedCount: Int

  /// The request in `arguments`, the words after the program's name; `nil` if they are an ordinary command line.
  public init?(_ arguments: [String]) {
    guard arguments.count > 2, arguments[0] == Self.command, let shell = CompletionShell(rawValue: arguments[1]),
      let last = arguments.last
    else { return nil }
    self.shell = shell
    var words = Array(arguments[2...])
    if shell == .bash { words = Self.joined(words) }
    beginning = words.removeLast()
    self.words = words
    replacedCount = shell == .bash && Self.isSeparator(last) ? 0 : last.count
  }

  /// The words of which bash passes `parts`: it splits them at equals signs and colons.
  private static func joined(_ parts: [String]) -> [String] {
    var words: [String] = []
    var isAfterSeparator = false
    for part in parts {
      let isSeparator = isSeparator(part)
      if isSeparator || isAfterSeparator, !part.isEmpty, !words.isEmpty {
        words[words.count - 1] += part
      } else {
        words.append(part)
      }
      isAfterSeparator = isSeparator
    }
    return words
  }

  private static func isSeparator(_ part: String) -> Bool { part.first == "=" || part.first == ":" }

  /// The command `type` with its options that appear, with their values, in the words before the one that is being typed;
  /// ignores everything else. `nil` if a value is malformed.
  public func options<Command: ParsableCommand>(of type: Command.Type) -> Command? {
    let set = ArgumentSet(type)
    var (arguments, rest) = ([String](), words[...])
    while let word = rest.popFirst() {
      guard case .long(let name, let value) = Token(word), set[.long(name)]?.kind == .option else { continue }
      if let value = value ?? rest.popFirst() { arguments.append("--\(name)=\(value)") }
    }
    guard case .command(let command, _)? = try? Command.parseAsRoot(arguments) else { return nil }
    return command as? Command
  }

  /// The answer to the script of a program with the command `root`.
  fileprivate func answer(_ root: CommandPath) async -> String {
    let place = CompletionPlace(root, words)
    if let option = place.option { return await values(of: option, from: beginning) }
    if !place.isAfterOptions {
      if case .long(let name, let value?) = Token(beginning) {
        return await values(of: place.option(.long(name)), from: value)
      }
      if beginning.hasPrefix("-") { return text(place.options, from: beginning) }
      if !place.children.isEmpty { return text(place.children, from: beginning) }
    }
    return await values(of: place.argument, from: beginning)
  }

  /// The answer for a value of `definition` that begins with `beginning`.
  private func values(of definition: ArgumentDefinition?, from beginning: String) async -> String {
    switch definition?.valueDescription.completion.kind {
    case .default, nil: return text([], from: beginning)
    case .list(let values): return text(values().map { ($0, "") }, from: beginning)
    case .file(let extensions): return (["files"] + extensions).joined(separator: " ") + "\n"
    case .directory: return "folders\n"
    case .custom(let values):
      var request = self
      request.beginning = beginning
      return text(await values(request).map { ($0, "") }, from: beginning)
    }
  }

  /// The answer with `words` and their explanations, as the shell wants them. Zsh and fish select the words that match by
  /// themselves.
  private func text(_ words: [(word: String, abstract: String)], from beginning: String) -> String {
    var lines = ["words"]
    for (word, abstract) in words {
      switch shell {
      case .bash where word.hasPrefix(beginning):
        // With a name and an equals sign before the value, if bash has not split the word there.
        let start = self.beginning.dropLast(beginning.count)
        lines.append(String((start + word).dropFirst(self.beginning.count - replacedCount)))
      case .bash: break
      case .zsh:
        let escaped = word.split(separator: ":", omittingEmptySubsequences: false).joined(separator: "\\:")
        lines.append(abstract.isEmpty ? escaped : "\(escaped):\(abstract)")
      case .fish: lines.append(abstract.isEmpty ? word : "\(word)\t\(abstract)")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

/// The place in a command line that follows some words.
private struct CompletionPlace {
  private var path: CommandPath
  /// The option whose value comes next.
  private(set) var option: ArgumentDefinition?
  /// Whether `--` has ended the options.
  private(set) var isAfterOptions = false
  /// Whether the words name a command whose help is wanted.
  private var isHelp = false
  /// The number of arguments so far.
  private var position = 0

  init(_ root: CommandPath, _ words: [String]) {
    path = root
    for word in words { read(word) }
  }

  private mutating func read(_ word: String) {
    if option != nil {
      option = nil
      return
    }
    switch isAfterOptions ? .word(word) : Token(word) {
    case .terminator: isAfterOptions = true
    case .long(let name, value: nil): option = option(.long(name))
    case .cluster(let letters) where letters.count == 1: option = letters.first.flatMap { option(.short($0)) }
    case .long, .cluster: break
    case .word(let name):
      if !isAfterOptions, let child = path.child(named: name) {
        path = child
      } else if path.isRoot, path.isGroup, name == "help" {
        isHelp = true
      } else {
        position += 1
      }
    }
  }

  /// The option called `name`, which takes a value, of this command or one under it.
  func option(_ name: ArgumentName) -> ArgumentDefinition? {
    isHelp ? nil : path.arguments(with: name)?[name].flatMap { $0.kind == .option ? $0 : nil }
  }

  /// The subcommands.
  var children: [(word: String, abstract: String)] {
    let own = path.children.map { ($0.names[$0.names.count - 1], $0.configuration.abstract) }
    guard path.isGroup, path.isRoot else { return own }
    return own + (isHelp ? path.topics : [path.topicOfHelp]).map { ($0.name, $0.abstract) }
  }

  /// The names of the options and flags of this command and of those under it.
  var options: [(word: String, abstract: String)] {
    if isHelp { return [] }
    let own = path.allNamedDefinitions.flatMap { definition in
      definition.names.map { ($0.text, definition.help.abstract) }
    }
    let hasVersion = path.isRoot && !path.configuration.version.isEmpty
    return own + [("-h", "Show this help"), ("--help", "Show this help")]
      + (hasVersion ? [("--version", "Show the version")] : [])
  }

  /// The argument that comes next.
  var argument: ArgumentDefinition? {
    let all = isHelp ? [] : ArgumentSet((path.defaultChild ?? path).command).positionals
    return position < all.count ? all[position] : all.last.flatMap { $0.isRepeating ? $0 : nil }
  }
}

extension ParsableCommand {
  /// The answer to the completion script that makes `request`, for command lines with this command as the root.
  public static func completions(for request: CompletionRequest) async -> String {
    await request.answer(CommandPath(root: self))
  }
}
