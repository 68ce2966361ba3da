/// A mistake in a command line.
public struct CommandLineError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kinds of mistakes. The raw value identifies the kind for programs.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// There is no such command.
    case unknownCommand = "unknown-command"
    /// A command is missing.
    case missingCommand = "missing-command"
    /// There is no such option.
    case unknownOption = "unknown-option"
    /// An option has no value.
    case missingValue = "missing-value"
    /// A flag has a value.
    case unexpectedValue = "unexpected-value"
    /// A value is malformed.
    case malformedValue = "malformed-value"
    /// A required option is missing.
    case missingOption = "missing-option"
    /// A required argument is missing.
    case missingArgument = "missing-argument"
    /// There are too many arguments.
    case unexpectedArgument = "unexpected-argument"
    /// The values contradict each other.
    case invalidCombination = "invalid-combination"
    /// The declarations of the program are wrong.
    case defect = "defect"
  }

  /// The kind of mistake.
  public let kind: Kind
  /// The mistake, in one line without a final full stop.
  public let message: String
  /// How to correct it, in one line without a final full stop.
  public let hint: String
  /// The path of the command being read: names from the root.
  public let commandPath: [String]

  /// The message and the hint in one line.
  public var description: String { "\(message): \(hint)" }

  /// The exit status: 64, or 70 for a defect of the program.
  public var exitCode: ExitCode { kind == .defect ? ExitCode(70) : .validationFailure }

  /// A mistake in the arguments of the command at `path`. The hint is `remedy` and how to get help.
  init(_ kind: Kind, _ message: String, remedy: String? = nil, at path: CommandPath) {
    self.kind = kind
    self.message = message.escapingControlCharacters
    let help = "ee '\(path.helpCommand)'"
    hint = remedy.map { "\($0.escapingControlCharacters) S\(help)" } ?? "s\(help)"
    commandPath = path.names
  }

  /// The contradiction that the command at `path`, names from the root, found while it ran.
  public init(_ error: ValidationError, in path: [String]) {
    kind = .invalidCombination
    message = error.message.escapingControlCharacters
    hint = "see '\(CommandPath.helpCommand(path))'"
    commandPath = path
  }
}

/// The exit status of a process.
public struct ExitCode: Error, RawRepresentable, Sendable, Hashable {
  /// The number, from 0 to 255.
  public let rawValue: Int32

  /// The status `code`.
  public init(_ code: Int32) { rawValue = code }

  /// The status `rawValue`.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// Success.
  public static let success = ExitCode(0)

  /// Failure.
  public static let failure = ExitCode(1)

  /// A wrong command line: `EX_USAGE` of sysexits.
  public static let validationFailure = ExitCode(64)
}

extension String {
  /// The text in one line and safe for a terminal: messages quote what the user typed.
  var escapingControlCharacters: String {
    guard unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      text += scalar.properties.generalCategory == .control ? scalar.escaped(asASCII: true) : String(scalar)
    }
  }
}
