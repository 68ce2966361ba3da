internal import Platform
internal import ProgramConfiguration

extension ProcessEnvironment {
  /// All environment variables, for a process to be started.
  static var all: [String: String] {
    let pairs = names(beginning: "").compactMap { name in value(of: name).map { (name, $0) } }
    return Dictionary(pairs) { $1 }
  }

  /// The number of the first argument that is not UTF-8, from 1; `nil` if all are. A `String` replaces invalid bytes,
  /// and would name a different file or key.
  static var malformedArgument: Int? {
    let arguments = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
    return arguments.indices.dropFirst().first { index in
      arguments[index].map { String(validatingCString: $0) == nil } ?? false
    }
  }

  /// The name of the first variable that affects this program or its files and is not UTF-8; `nil` if all are.
  static var malformedVariable: String? { malformedVariable(beginning: "CACHECTL_", others: ["TMPDIR"]) }
}
