/// Separates the words of a command: options with their values, flags and arguments.
struct TokenReader {
  private let set: ArgumentSet
  private let path: CommandPath
  private let words: [String]
  /// The index of the next word.
  private var index = 0
  /// The texts given for each declaration, in the order of the declarations.
  private var texts: [[String]]
  /// The positional arguments.
  private var arguments: [String] = []

  init(set: ArgumentSet, path: CommandPath, words: [String]) {
    self.set = set
    self.path = path
    self.words = words
    texts = Array(repeating: [], count: set.definitions.count)
  }

  /// The texts given for each declaration, in the order of the declarations.
  mutating func read() throws(CommandLineError) -> [[String]] {
    while let word = next() {
      switch Token(word) {
      case .word(let text):
        // A negative number, or an option that is called by a digit.
        let letters = text.dropFirst()
        let isOption = text.hasPrefix("-") && letters.first.map { set.index(of: .short($0)) != nil } ?? false
        if isOption { try cluster(String(letters)) } else { arguments.append(text) }
      case .terminator: takeRest()
      case .long(let name, let value): try long(name, value)
      case .cluster(let letters): try cluster(letters)
      }
    }
    try assignArguments()
    return texts
  }

  private mutating func next() -> String? {
    guard index < words.count else { return nil }
    defer { index += 1 }
    return words[index]
  }

  private mutating func takeRest() {
    arguments += words[index...]
    index = words.count
  }

  /// Reads `--name` or `--name=value`.
  private mutating func long(_ name: String, _ value: String?) throws(CommandLineError) {
    guard let place = set.index(of: .long(name)) else {
      throw .unknownOption(.long(name), among: set.named, at: path)
    }
    let definition = set.definitions[place]
    if definition.kind == .option {
      let text = if let value { value } else { try valueWord(of: definition) }
      texts[place].append(text)
    } else if let value {
      throw .unexpectedValue(value, for: definition, at: path)
    } else {
      texts[place].append("")
    }
  }

  /// Reads `-abc`: flags; the last can be an option with its value after it.
  private mutating func cluster(_ letters: String) throws(CommandLineError) {
    var rest = Substring(letters)
    while let letter = rest.popFirst() {
      guard let place = set.index(of: .short(letter)) else {
        throw .unknownOption(.short(letter), in: letters, among: set.named, at: path)
      }
      let definition = set.definitions[place]
      guard definition.kind == .option else {
        texts[place].append("")
        continue
      }
      if rest.first == "=" { rest.removeFirst() }
      texts[place].append(rest.isEmpty ? try valueWord(of: definition) : String(rest))
      return
    }
  }

  /// The next word, which must not look like an option: a value that does is written `--name=-value`.
  private mutating func valueWord(of definition: ArgumentDefinition) throws(CommandLineError) -> String {
    guard index < words.count, Token(words[index]) == .word(words[index]), let word = next() else {
      throw .missingValue(definition, at: path)
    }
    return word
  }

  /// Assigns the arguments to the declarations by position.
  private mutating func assignArguments() throws(CommandLineError) {
    var rest = arguments[...]
    for (place, definition) in set.definitions.enumerated() where definition.kind == .positional {
      let count = definition.isRepeating ? rest.count : min(1, rest.count)
      texts[place] += rest.prefix(count)
      rest = rest.dropFirst(count)
    }
    if let extra = rest.first { throw .unexpectedArgument(extra, at: path) }
  }
}

/// The kind of a word on the command line, by its spelling.
enum Token: Equatable {
  /// A subcommand, an argument or the value of an option; also `-` alone and negative numbers.
  case word(String)
  /// `--`: everything after it is an argument.
  case terminator
  /// `--name` or `--name=value`.
  case long(String, value: String?)
  /// `-abc`: one-letter flags; the last can be an option, followed by its value.
  case cluster(String)

  /// Classifies `text`.
  init(_ text: String) {
    if text == "--" {
      self = .terminator
    } else if text.hasPrefix("--") {
      let parts = text.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      self = .long(String(parts[0]), value: parts.count > 1 ? String(parts[1]) : nil)
    } else if text.hasPrefix("-"), text.count > 1, !Token.isNegativeNumber(text) {
      self = .cluster(String(text.dropFirst()))
    } else {
      self = .word(text)
    }
  }

  /// Whether this is `--help` or `-h`.
  var asksForHelp: Bool { self == .long("help", value: nil) || self == .cluster("h") }

  var asksForVersion: Bool { self == .long("version", value: nil) }

  /// Whether `text` is a dash followed by a digit, or by a point and a digit.
  private static func isNegativeNumber(_ text: String) -> Bool {
    let rest = text.dropFirst()
    let digits = rest.first == "." ? rest.dropFirst() : rest
    return digits.first?.isNumber == true
  }
}
