/// A command of a program: its declarations, and what it does.
public protocol ParsableCommand: ParsableArguments {
  /// The name, the help and the subcommands.
  static var configuration: CommandConfiguration { get }

  /// Does the work. A command with subcommands is never run itself.
  mutating func run() throws

  /// Does the work, whether the command is asynchronous or not. It is not meant to be implemented: it exists so that
  /// running a command needs no dynamic cast.
  mutating func runToEnd() async throws
}

/// A command whose work is asynchronous.
public protocol AsyncParsableCommand: ParsableCommand {
  /// Does the work.
  mutating func run() async throws
}

extension ParsableCommand {
  /// A configuration that says nothing.
  public static var configuration: CommandConfiguration { CommandConfiguration() }

  /// Refuses: a command that does nothing is there for its subcommands.
  public mutating func run() throws {
    throw ValidationError("the command '\(Self.commandName)' only has subcommands")
  }

  /// Calls `run()`.
  public mutating func runToEnd() async throws { try run() }

  /// The name on the command line: the configured one, or the type's in kebab case.
  static var commandName: String { configuration.commandName ?? _typeName(Self.self, qualified: false).kebabCased }
}

extension AsyncParsableCommand {
  /// Awaits `run()`.
  public mutating func runToEnd() async throws { try await run() }
}
