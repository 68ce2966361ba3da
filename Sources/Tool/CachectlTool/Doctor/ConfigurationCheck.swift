internal import CacheComposition
internal import CacheDomain

/// Checks that the configuration is found and has no mistakes.
struct ConfigurationCheck: Sendable {
  private static let name = "configuration"

  let loader: ConfigurationLoader
  let files: any FileInspection

  /// All mistakes, or where the configuration comes from.
  func findings(_ flags: ConfigurationFlags) -> [Finding] {
    let problems = loader.problems(flags).map { problem in
      Finding.problem(
        Self.name, problem.code == .permissionDenied ? .permissionDenied : .invalidOption, problem.message,
        hint: problem.hint)
    }
    let trust = ((try? loader.trust(flags)) ?? nil)?.text ?? ""
    let used = loader.searchPath(flags).map(\.path).first { files.file(at: $0) != nil }
    let unsafe = used.map(permissions) ?? []
    if !(problems + unsafe).isEmpty { return problems + unsafe }
    return [.ok(Self.name, used.map { "\($0) is valid (\(trust))" } ?? "no file: every setting has its default")]
  }

  /// A user who may change the file decides where plugins and answers come from.
  private func permissions(_ path: String) -> [Finding] {
    guard let file = files.file(at: path), file.isWritableByOthers else { return [] }
    return [
      .problem(
        Self.name, .permissionDenied, "\(path) can be changed by others (permissions \(file.modeText))",
        hint: "chmod go-w \(path)")
    ]
  }
}
