/// How a shell completes a value.
public struct CompletionKind: Sendable {
  enum Kind: Sendable {
    case `default`
    case list(@Sendable () -> [String])
    case file(extensions: [String])
    case directory
    case custom(@Sendable (CompletionRequest) async -> [String])
  }

  let kind: Kind

  /// The noun for the target of a path, with its article; `nil` if the value is not a path.
  var pathNoun: String? {
    switch kind {
    case .file: "a file"
    case .directory: "a directory"
    case .default, .list, .custom: nil
    }
  }

  /// Offers nothing.
  public static let `default` = CompletionKind(kind: .default)

  /// Offers directories.
  public static let directory = CompletionKind(kind: .directory)

  /// Offers the given values. They are evaluated each time the completion key is pressed.
  public static func list(_ values: @autoclosure @escaping @Sendable () -> [String]) -> CompletionKind {
    CompletionKind(kind: .list(values))
  }

  /// Offers the given values with commas between, each once.
  public static func commaSeparated(_ values: @autoclosure @escaping @Sendable () -> [String]) -> CompletionKind {
    .custom { request in
      let given = request.beginning.split(separator: ",", omittingEmptySubsequences: false).dropLast()
      let start = given.map { "\($0)," }.joined()
      return values().filter { value in !given.contains { $0 == value } }.map { start + $0 }
    }
  }

  /// Offers files, and directories to descend into.
  ///
  /// - Parameter extensions: the extensions to offer, without a dot; empty for all files.
  public static func file(extensions: [String] = []) -> CompletionKind {
    CompletionKind(kind: .file(extensions: extensions))
  }

  /// Offers the values that `values` returns for the command line that is being typed.
  public static func custom(_ values: @escaping @Sendable (CompletionRequest) async -> [String]) -> CompletionKind {
    CompletionKind(kind: .custom(values))
  }
}
