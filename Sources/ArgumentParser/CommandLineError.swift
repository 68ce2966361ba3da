/// What is wrong with a command line.
public struct CommandLineError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kinds of mistakes. The raw value identifies the kind for programs.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// No command is called so.
    case unknownCommand = "unknown-command"
    /// A command must be named.
    case missingCommand = "missing-command"
    /// No option is called so.
    case unknownOption = "unknown-option"
    /// An option has no value.
    case missingValue = "missing-value"
    /// A flag has a value.
    case unexpectedValue = "unexpected-value"
    /// A value is not of the kind expected.
    case malformedValue = "malformed-value"
    /// A required option is not there.
    case missingOption = "missing-option"
    /// A required argument is not there.
    case missingArgument = "missing-argument"
    /// There are more arguments than expected.
    case unexpectedArgument = "unexpected-argument"
    /// The values make no sense together.
    case invalidCombination = "invalid-combination"
    /// The program declares its commands wrongly.
    case defect = "defect"
  }

  /// The kind of mistake.
  public let kind: Kind
  /// What is wrong, in one line without a final full stop.
  public let message: String
  /// What to do about it, in one line without a final full stop.
  public let hint: String
  /// The names of the command that was being read, from the root.
  public let commandPath: [String]

  /// The mistake and its remedy in one line.
  public var description: String { "\(message): \(hint)" }

  /// The status to exit with: 64, or 70 for a defect of the program.
  public var exitCode: ExitCode { kind == .defect ? ExitCode(70) : .validationFailure }

  /// An error in the reading of the command at `path`. The hint begins with `remedy` and names the help.
  init(_ kind: Kind, _ message: String, remedy: String? = nil, at path: CommandPath) {
    self.kind = kind
    self.message = message.escapingControlCharacters
    let help = "ee '\(path.helpCommand)'"
    hint = remedy.map { "\($0.escapingControlCharacters) S\(help)" } ?? "s\(help)"
    commandPath = path.names
  }
}

/// The status with which a process ends.
public struct ExitCode: Error, RawRepresentable, Sendable, Hashable {
  /// The number, from 0 to 255.
  public let rawValue: Int32

  /// The status `code`.
  public init(_ code: Int32) { rawValue = code }

  /// The status `rawValue`.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// Done.
  public static let success = ExitCode(0)

  /// Something went wrong.
  public static let failure = ExitCode(1)

  /// The command line is wrong: `EX_USAGE` of sysexits.
  public static let validationFailure = ExitCode(64)
}

extension String {
  /// The text in one line, safe for a terminal: what was typed is quoted in messages.
  var escapingControlCharacters: String {
    guard unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      text += scalar.properties.generalCategory == .control ? scalar.escaped(asASCII: true) : String(scalar)
    }
  }
}
