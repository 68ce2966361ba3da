/// A command of a program: its declarations and its work.
public protocol ParsableCommand: ParsableArguments {
  /// The name, the help and the subcommands.
  static var configuration: CommandConfiguration { get }

  /// Does the work. A command with subcommands is never run itself.
  mutating func run() throws

  /// Does the work, whether the command is asynchronous or not. Do not implement it: it exists so that running a
  /// command needs no dynamic cast.
  mutating func runToEnd() async throws
}

/// A command whose work is asynchronous.
public protocol AsyncParsableCommand: ParsableCommand {
  /// Does the work.
  mutating func run() async throws
}

extension ParsableCommand {
  /// An empty configuration.
  public static var configuration: CommandConfiguration { CommandConfiguration() }

  /// Throws an error: a command without work exists for its subcommands.
  public mutating func run() throws {
    throw ValidationError("the command '\(Self.commandName)' only has subcommands")
  }

  /// Calls `run()`.
  public mutating func runToEnd() async throws { try run() }

  /// The name on the command line: the configured one, or the name of the type in kebab case.
  static var commandName: String { configuration.commandName ?? _typeName(Self.self, qualified: false).kebabCased }
}

extension AsyncParsableCommand {
  /// Awaits `run()`.
  public mutating func runToEnd() async throws { try await run() }
}
