/// A mistake in a command line.
public struct CommandLineError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The mistake, in one line without a final full stop.
  public let message: String
  /// How to correct it, in one line without a final full stop.
  public let hint: String
  /// The exit status: 64, or 70 for a defect of the program.
  public var exitCode = ExitCode.validationFailure

  /// The message and the hint in one line.
  public var description: String { "\(message): \(hint)" }

  /// A mistake in the arguments of the command at `path`. The hint is `remedy` and how to get help.
  init(_ message: String, remedy: String? = nil, at path: CommandPath) {
    self.message = message.escapingControlCharacters
    let command = "'\(path.helpCommand)'"
    hint = remedy.map { "\($0.escapingControlCharacters) See \(command)" } ?? "see \(command)"
  }

  /// The contradiction that the command at `path`, names from the root, found while it ran.
  public init(_ error: ValidationError, in path: [String]) {
    message = error.message.escapingControlCharacters
    hint = "see '\(CommandPath.helpCommand(path))'"
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
