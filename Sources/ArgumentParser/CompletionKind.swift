/// How a shell completes a value.
public struct CompletionKind: Sendable {
  /// The ways that a completion script distinguishes.
  enum Kind: Sendable {
    case `default`
    case list(@Sendable () -> [String])
    case file(extensions: [String])
    case directory
    case asked(topic: String)
  }

  /// The way chosen.
  let kind: Kind

  /// Nothing is offered.
  public static let `default` = CompletionKind(kind: .default)

  /// Folders are offered.
  public static let directory = CompletionKind(kind: .directory)

  /// The given values are offered. They are asked for when a completion script is generated, not before.
  public static func list(_ values: @autoclosure @escaping @Sendable () -> [String]) -> CompletionKind {
    CompletionKind(kind: .list(values))
  }

  /// Files are offered, and folders to descend into.
  ///
  /// - Parameter extensions: the endings, without a dot, that files must have; empty for all files.
  public static func file(extensions: [String] = []) -> CompletionKind {
    CompletionKind(kind: .file(extensions: extensions))
  }

  /// The program is asked for values of `topic`, a word of letters, each time; see `CompletionQuery`.
  public static func asked(_ topic: String) -> CompletionKind { CompletionKind(kind: .asked(topic: topic)) }
}
