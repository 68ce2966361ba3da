internal import CacheBase

/// All possible mistakes in a command line, each with a hint.
extension CommandLineError {
  /// `path` has no subcommand `name`, and no page of help among `topics` has that name.
  static func unknownCommand(
    _ name: String, or topics: [HelpTopic] = [], at path: CommandPath
  ) -> CommandLineError {
    let names = path.childNames + (path.isRoot ? ["help"] : []) + topics.map(\.name)
    let full = (path.names.dropFirst() + [name]).joined(separator: " ")
    let remedy = didYouMean(Spelling.nearest(to: name, among: names)) ?? path.listOfChildren
    return CommandLineError("unknown command '\(full)'", remedy: remedy, at: path)
  }

  /// `path` needs a subcommand.
  static func missingCommand(at path: CommandPath) -> CommandLineError {
    let place = path.isRoot ? "" : " after '\(path.names.dropFirst().joined(separator: " "))'"
    return CommandLineError("missing command\(place)", remedy: path.listOfChildren, at: path)
  }

  /// There is no option `name` among `known`, such as a letter of `cluster`.
  static func unknownOption(
    _ name: ArgumentName, in cluster: String = "", among known: [ArgumentDefinition], at path: CommandPath
  ) -> CommandLineError {
    let place = cluster.count > 1 ? " in '-\(cluster)'" : ""
    let message = "unknown option '\(name.text)'\(place)"
    if let hint = path.configuration.optionHint(name.text) {
      return CommandLineError(message, remedy: hint + ".", at: path)
    }
    let names = known.flatMap(\.names).filter { !$0.isShort }.map(\.text) + ["--help"]
    let wanted = cluster.count > 1 ? "--" + cluster : name.text
    // Every single letter is close to every other: a suggestion would be arbitrary.
    let nearest = wanted.hasPrefix("--") ? nearestOption(to: wanted, among: names) : nil
    return CommandLineError(message, remedy: didYouMean(nearest), at: path)
  }

  /// `help` takes no options.
  static func optionOfHelp(_ word: String, at path: CommandPath) -> CommandLineError {
    CommandLineError(
      "'help' has no option '\(word)'", remedy: "it takes the name of a command and nothing else.",
      at: path)
  }

  /// The option needs a value.
  static func missingValue(_ option: ArgumentDefinition, at path: CommandPath) -> CommandLineError {
    let message = "missing value after '\(option.displayName)'"
    let remedy = option.expectationSentence ?? "'\(option.synopsis)' is expected."
    return CommandLineError(message, remedy: remedy, at: path)
  }

  /// The flag takes no value.
  static func unexpectedValue(
    _ value: String, for flag: ArgumentDefinition, at path: CommandPath
  ) -> CommandLineError {
    let message = "unexpected value '\(value)' for '\(flag.displayName)'"
    return CommandLineError(message, remedy: "it takes none.", at: path)
  }

  /// The value of the option or argument is malformed.
  static func malformedValue(
    _ text: String, for definition: ArgumentDefinition, at path: CommandPath
  ) -> CommandLineError {
    let nearest = Spelling.nearest(to: text, among: definition.valueDescription.allowedValues)
    let hint = path.configuration.optionHint(definition.displayName).map { $0 + "." }
    let remedy = [didYouMean(nearest) ?? definition.expectationSentence, hint].compactMap(\.self)
    let message = "invalid value '\(text)' for '\(definition.displayName)'"
    return CommandLineError(message, remedy: remedy.isEmpty ? nil : remedy.joined(separator: " "), at: path)
  }

  /// The value of the option or argument is empty, and not the path of `noun`.
  static func emptyPath(
    of noun: String, for definition: ArgumentDefinition, at path: CommandPath
  ) -> CommandLineError {
    let message = "the value of '\(definition.displayName)' is empty"
    return CommandLineError(message, remedy: "expected the path of \(noun).", at: path)
  }

  /// A required option or argument is missing.
  static func missing(_ definition: ArgumentDefinition, at path: CommandPath) -> CommandLineError {
    let isOption = definition.kind != .positional
    let message = "missing \(isOption ? "option" : "argument") '\(definition.synopsis)'"
    let remedy = definition.help.abstract.isEmpty ? nil : "it is required (\(definition.help.abstract))."
    return CommandLineError(message, remedy: remedy, at: path)
  }

  /// There are too many arguments.
  static func unexpectedArgument(_ text: String, at path: CommandPath) -> CommandLineError {
    CommandLineError("unexpected argument '\(text)'", at: path)
  }

  /// The declarations of the command are wrong.
  static func defect(_ message: String, at path: CommandPath) -> CommandLineError {
    var error = CommandLineError(message, remedy: "correct the declarations in the program.", at: path)
    error.exitCode = ExitCode(70)
    return error
  }

  private static func didYouMean(_ name: String?) -> String? { name.map { "did you mean '\($0)'?" } }

  private static func nearestOption(to name: String, among names: [String]) -> String? {
    let nearest = Spelling.nearest(to: String(name.dropFirst(2)), among: names.lazy.map { String($0.dropFirst(2)) })
    return nearest.map { "--" + $0 }
  }
}

extension ArgumentDefinition {
  /// A sentence with the expected values; `nil` if it would not help.
  fileprivate var expectationSentence: String? {
    let description = valueDescription
    let allowed = description.allowedValues
    if !allowed.isEmpty { return "expected one of \(allowed.joined(separator: ", "))." }
    return description.expectation.map { "expected \($0)." }
  }
}

extension CommandPath {
  /// The subcommands, as a phrase.
  fileprivate var listOfChildren: String { "one of \(childNames.joined(separator: ", "))." }
}
