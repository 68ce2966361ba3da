/// What a completion script asks the program for while a command line is being typed.
///
/// The script runs the program with the word `__complete`, the topic, the beginning of the word being typed, and the
/// words before it. The program prints values, one a line, and nothing where it has none.
public struct CompletionQuery: Sendable {
  /// The first argument of such a run.
  static let command = "__complete"

  /// What values are asked for, as the declaration says; see `CompletionKind.asked`.
  public let topic: String
  /// What they are to begin with.
  public let beginning: String
  private let words: [String]

  /// The question in `arguments`, the words after the program's name; `nil` where they are a command line.
  public init?(_ arguments: [String]) {
    guard arguments.count > 2, arguments[0] == Self.command else { return nil }
    (topic, beginning, words) = (arguments[1], arguments[2], Array(arguments[3...]))
  }

  /// The command `type` with those of its options, with their values, that stand among the words before the one being
  /// typed; everything else is left out. `nil` where a value is malformed.
  public func options<Command: ParsableCommand>(of type: Command.Type) -> Command? {
    let set = ArgumentSet(type)
    var (arguments, rest) = ([String](), words[...])
    while let word = rest.popFirst() {
      guard case .long(let name, let value) = Token(word), set[.long(name)]?.kind == .option else { continue }
      // Bash may have split what is written with an equals sign.
      if value == nil, rest.first == "=" { rest.removeFirst() }
      if let value = value ?? rest.popFirst() { arguments.append("--\(name)=\(value)") }
    }
    guard case .command(let command, _)? = try? Command.parseAsRoot(arguments) else { return nil }
    return command as? Command
  }
}
