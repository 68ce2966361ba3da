internal import CachectlTool

/// The parsed command line.
struct Command: Sendable, Equatable {
  enum Action: Sendable, Equatable {
    /// Adds a token; for "-" it reads the value from stdin.
    case insert(name: String, value: String, expiresAfter: Duration?)
    /// Lists the tokens, with their values on request.
    case list(showsValues: Bool)
    /// Explains the program.
    case help
  }

  let action: Action
  let flags: ConfigurationFlags

  static let usage = """
    usage: service-tokens insert NAME VALUE [--expires DURATION]   (VALUE - is read from stdin)
           service-tokens list [--show]
    options of both: --backend NAME|PATH, --config FILE, --home DIR: as for cachectl

    """

  /// The command that `arguments` say.
  ///
  /// - Throws: `UsageError`, which never repeats a value.
  init(_ arguments: [String]) throws(UsageError) {
    var (words, options, switches) = ([String](), [String: String](), Set<String>())
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--":
        words += rest
        rest = []
      case "--backend", "--config", "--home", "--expires":
        guard let value = rest.popFirst() else { throw UsageError("\(argument) needs a value") }
        options[argument] = value
      case "--show", "--help": switches.insert(argument)
      default:
        guard !argument.hasPrefix("--") else { throw UsageError("there is no option like that") }
        words.append(argument)
      }
    }
    flags = ConfigurationFlags(
      file: options["--config"], backend: options["--backend"], home: options["--home"])
    action = try Self.action(words, options["--expires"], switches)
  }

  private static func action(
    _ words: [String], _ expires: String?, _ switches: Set<String>
  ) throws(UsageError) -> Action {
    if switches.contains("--help") { return .help }
    switch (words.first, words.count) {
    case ("insert", 3) where switches.isEmpty:
      return .insert(name: words[1], value: words[2], expiresAfter: try duration(expires))
    case ("list", 1) where expires == nil: return .list(showsValues: switches.contains("--show"))
    default: throw UsageError("the command is 'insert NAME VALUE' or 'list'")
    }
  }

  private static func duration(_ text: String?) throws(UsageError) -> Duration? {
    guard let text else { return nil }
    guard let duration = DurationText(text), duration.milliseconds > 0 else {
      throw UsageError("--expires takes a length of time, such as 90s, 1h30m or 7d")
    }
    return duration.duration
  }
}

/// A command line that makes no sense.
struct UsageError: Error, Equatable {
  let message: String

  init(_ message: String) { self.message = message }
}
