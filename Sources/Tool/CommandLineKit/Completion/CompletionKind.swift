/// How a shell completes a value.
public struct CompletionKind: Sendable {
  /// The kinds that completion scripts distinguish.
  enum Kind: Sendable {
    case `default`
    case list(@Sendable () -> [String])
    case file(extensions: [String])
    case directory
    case asked(topic: String)
  }

  /// The kind.
  let kind: Kind

  /// What a path names, with its article; `nil` if the value is no path.
  var pathNoun: String? {
    switch kind {
    case .file: "a file"
    case .directory: "a folder"
    case .default, .list, .asked: nil
    }
  }

  /// Offers nothing.
  public static let `default` = CompletionKind(kind: .default)

  /// Offers folders.
  public static let directory = CompletionKind(kind: .directory)

  /// Offers the given values. They are evaluated only when a completion script is generated.
  public static func list(_ values: @autoclosure @escaping @Sendable () -> [String]) -> CompletionKind {
    CompletionKind(kind: .list(values))
  }

  /// Offers files, and folders to descend into.
  ///
  /// - Parameter extensions: the extensions to offer, without a dot; empty for all files.
  public static func file(extensions: [String] = []) -> CompletionKind {
    CompletionKind(kind: .file(extensions: extensions))
  }

  /// Asks the program for values of `topic`, a word of letters, at each completion; see `CompletionQuery`.
  public static func asked(_ topic: String) -> CompletionKind { CompletionKind(kind: .asked(topic: topic)) }
}

/// A question from a completion script to the program, while the user types a command line.
///
/// The script runs the program with the word `__complete`, the topic, the beginning of the word being typed, and the
/// words before it. The program prints the values, one per line, if there are any.
public struct CompletionQuery: Sendable {
  /// The first argument of such a run.
  static let command = "__complete"

  /// The topic of the values, from the declaration; see `CompletionKind.asked`.
  public let topic: String
  /// The beginning that values must have.
  public let beginning: String
  private let words: [String]

  /// The question in `arguments`, the words after the program's name; `nil` if they are an ordinary command line.
  public init?(_ arguments: [String]) {
    guard arguments.count > 2, arguments[0] == Self.command else { return nil }
    (topic, beginning, words) = (arguments[1], arguments[2], Array(arguments[3...]))
  }

  /// The command `type` with its options that appear, with their values, in the words before the one being typed;
  /// ignores everything else. `nil` if a value is malformed.
  public func options<Command: ParsableCommand>(of type: Command.Type) -> Command? {
    let set = ArgumentSet(type)
    var (arguments, rest) = ([String](), words[...])
    while let word = rest.popFirst() {
      guard case .long(let name, let value) = Token(word), set[.long(name)]?.kind == .option else { continue }
      // Bash may have split the word at the equals sign.
      if value == nil, rest.first == "=" { rest.removeFirst() }
      if let value = value ?? rest.popFirst() { arguments.append("--\(name)=\(value)") }
    }
    guard case .command(let command, _)? = try? Command.parseAsRoot(arguments) else { return nil }
    return command as? Command
  }
}
