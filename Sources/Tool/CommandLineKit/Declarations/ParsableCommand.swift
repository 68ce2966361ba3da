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
  package static var commandName: String {
    configuration.commandName ?? _typeName(Self.self, qualified: false).kebabCased
  }
}

extension AsyncParsableCommand {
  /// Awaits `run()`.
  public mutating func runToEnd() async throws { try await run() }
}

/// Options, flags and arguments to be read from a command line.
///
/// Declare every stored property with `@Option`, `@Flag`, `@Argument` or `@OptionGroup`. `Decodable` is synthesised;
/// the parser uses it to set the values.
public protocol ParsableArguments: Decodable, SendableMetatype {
  /// Makes the declarations, with their defaults. The parser calls it; a program has no reason to.
  init()

  /// Checks what no single declaration can express, such as two options that exclude each other.
  ///
  /// - Throws: the contradiction.
  mutating func validate() throws(ValidationError)
}

extension ParsableArguments {
  /// Accepts all values.
  public mutating func validate() throws(ValidationError) {}
}

/// A contradiction between values.
public struct ValidationError: Error, Sendable, Hashable {
  /// The contradiction, in one line without a final full stop.
  public let message: String

  /// An error with the message `message`.
  public init(_ message: String) { self.message = message }
}

/// The name, the help and the subcommands of a command.
public struct CommandConfiguration: Sendable {
  /// The name on the command line; `nil` for the name of the type in kebab case.
  public var commandName: String?
  /// The purpose of the command, in one line.
  public var abstract: String
  /// The command lines that run it, one per line, the most common first; `nil` to make one of the declarations.
  public var usage: String?
  /// Further explanations. Paragraphs are wrapped; lines that begin with a space stay unchanged.
  public var discussion: String
  /// Command lines for a shell.
  public var examples: [String]
  /// The answer to `--version`; empty for no such option. Only the root command's counts.
  public var version: String
  private let makeSubcommands: @Sendable () -> [any ParsableCommand.Type]
  private let makeGroups: @Sendable () -> [CommandGroup]
  private let makeTopics: @Sendable () -> [HelpTopic]
  /// The subcommand to use if none is named.
  public var defaultSubcommand: (any ParsableCommand.Type)?
  /// The advice about a mistake with the option of this name, which the command need not have; `nil` for no advice.
  private(set) var optionHint: @Sendable (_ name: String) -> String? = { _ in nil }

  /// This configuration with advice for mistakes with options, by their names, such as `-r` and `--range`. Each is a
  /// clause without a final full stop.
  public func hinting(_ hint: @escaping @Sendable (_ name: String) -> String?) -> CommandConfiguration {
    var configuration = self
    configuration.optionHint = hint
    return configuration
  }

  /// The subcommands that are in no group, in the order of help.
  public var ungroupedSubcommands: [any ParsableCommand.Type] { makeSubcommands() }

  /// The groups of subcommands, in the order of help.
  public var groupedSubcommands: [CommandGroup] { makeGroups() }

  /// The pages of help that are about no single command. Only those of the root command count.
  public var topics: [HelpTopic] { makeTopics() }

  /// The subcommands, in the order of help.
  ///
  /// They are made on each access: making generic ones creates types at run time, and a start that only passes through
  /// the command needs none of those.
  public var subcommands: [any ParsableCommand.Type] { makeSubcommands() + makeGroups().flatMap(\.subcommands) }

  /// A configuration; everything has a default.
  public init(
    commandName: String? = nil, abstract: String = "", usage: String? = nil, discussion: String = "",
    examples: [String] = [], version: String = "",
    subcommands: @autoclosure @escaping @Sendable () -> [any ParsableCommand.Type] = [],
    groupedSubcommands: @autoclosure @escaping @Sendable () -> [CommandGroup] = [],
    defaultSubcommand: (any ParsableCommand.Type)? = nil,
    topics: @autoclosure @escaping @Sendable () -> [HelpTopic] = []
  ) {
    self.commandName = commandName
    self.abstract = abstract
    self.usage = usage
    self.discussion = discussion
    self.examples = examples
    self.version = version
    makeSubcommands = subcommands
    makeGroups = groupedSubcommands
    makeTopics = topics
    self.defaultSubcommand = defaultSubcommand
  }
}

/// Subcommands that help shows under one title.
public struct CommandGroup: Sendable {
  /// The title.
  public let name: String
  /// The subcommands, in the order of help.
  public let subcommands: [any ParsableCommand.Type]

  /// A group with the title `name`.
  public init(name: String, subcommands: [any ParsableCommand.Type]) {
    self.name = name
    self.subcommands = subcommands
  }
}
