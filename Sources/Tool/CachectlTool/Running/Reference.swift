internal import CacheBase
internal import CommandLineKit

/// The documents that the program makes of its declarations: the manual, which an installation has, and the pages in
/// docs/reference.
enum Documents {
  /// The files that the hidden command called `name` prints; `nil` if there is no such command.
  static func files(_ name: String?) -> [(name: String, text: String)]? {
    switch name {
    case "__manual": Manual.pages.map { ($0.fileName, $0.text) }
    case "__reference": Reference.pages
    default: nil
    }
  }

  /// The file called `name` of `files`; without a name, the names of all.
  static func text(_ name: String?, of files: [(name: String, text: String)]) throws(ValidationError) -> String {
    guard let name else { return files.map { "\($0.name)\n" }.joined() }
    guard let file = files.first(where: { $0.name == name }) else { throw ValidationError("there is no page \(name)") }
    return file.text
  }
}

/// The pages in docs/reference, which Scripts/reference writes.
enum Reference {
  static var pages: [(name: String, text: String)] {
    [
      ("commands.md", Markdown.page("Commands", [CachectlCommand.reference])),
      ("configuration.md", Markdown.page("Configuration", configuration)),
      ("exit-codes.md", Markdown.page("Exit codes", exitCodes)),
    ]
  }

  private static var exitCodes: [String] {
    let rows = ExitCode.meanings.map { code, meaning, errors in
      [String(code.rawValue), meaning, errors.map { "`\($0.rawValue)`" }.joined(separator: ", ")]
    }
    let configuration = ConfigurationError.Code.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
    return [
      "An error code is the member `code` of an error in JSON.",
      Markdown.table(["code", "meaning", "error codes"], rows),
      """
      An error code that is not listed comes from an engine, and ends with 74. A mistake in the configuration has one of the \
      codes \(configuration). It ends with 78, or with 64 if it is in an option.
      """,
    ]
  }

  /// The settings of each section, and the variables.
  private static var configuration: [String] {
    let loader = ConfigurationLoader.ofProcess
    var sections: [(path: String, rows: [[String]])] = []
    for key in loader.declared.settings {
      let names = key.path.split(separator: ".")
      let section = names.dropLast().joined(separator: ".")
      if sections.last?.path != section { sections.append((section, [])) }
      let variable = key.variable.map { "`\(loader.names.prefix)\($0)`" } ?? ""
      let value = key.json.map { "`\(JSONText.text($0))`" } ?? ""
      sections[sections.count - 1].rows.append([
        "`\(names[names.count - 1])`", key.sentence, key.kind.allowed, value, variable,
      ])
    }
    let titles = ["key", "meaning", "values", "default", "variable"]
    let tables = sections.flatMap { path, rows in
      [path.isEmpty ? "## The outermost object" : "## `\(path)`", Markdown.table(titles, rows)]
    }
    return tables + [
      "## Other variables", Markdown.table(["variable", "meaning"], Manual.variables.map { ["`\($0)`", $1] }),
    ]
  }
}
