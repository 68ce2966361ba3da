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
