internal import CachePresentation

/// The effective configuration.
struct SettingsView: OutputView {
  private let configuration: Configuration
  private let showsOrigin: Bool
  private let limits: String?

  /// The view of the settings of `configuration`, in the order of the schema; `showsOrigin` adds the origin of each,
  /// and the file. `limits` says what limits the store if those of the cache do not apply.
  init(_ configuration: Configuration, showsOrigin: Bool, limits: String? = nil) {
    self.configuration = configuration
    self.showsOrigin = showsOrigin
    self.limits = limits
  }

  /// Without origins, a document that is a valid configuration itself; with them `{"file", "settings": [{"key",
  /// "value", "origin"}]}`, the file `null` if none is used.
  var json: JSONValue {
    guard showsOrigin else { return configuration.document }
    return ["file": JSONValue(configuration.file), "settings": .array(records)]
  }

  /// The names of the members of a setting.
  var columns: [String] { showsOrigin ? ["key", "value", "origin"] : ["key", "value"] }

  /// The settings.
  var records: [JSONValue] {
    configuration.entries.map { entry in
      let members: [JSONValue.Member] = [.init("key", .string(entry.key)), .init("value", entry.json)]
      return .object(showsOrigin ? members + [.init("origin", .string(entry.source.description))] : members)
    }
  }

  /// The file, if origins are shown, and the limits of the store.
  var status: StatusLine? {
    let file = showsOrigin ? configuration.file ?? "No file: every setting has its default" : nil
    let parts = [file, limits].compactMap(\.self)
    return parts.isEmpty ? nil : StatusLine(parts)
  }

  /// The settings, one per line.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    let columns: [Table.Column] = [.init("Setting"), .init("Value", isShrinkable: true)]
    let rows = configuration.entries.map { entry in
      let cells = [Table.Cell(entry.key, .plain), Table.Cell(CSVText.field(entry.json), .bold)]
      return showsOrigin ? cells + [Table.Cell(entry.source.description, .dim)] : cells
    }
    let table = Table(showsOrigin ? columns + [.init("Origin", isShrinkable: true)] : columns, rows: rows)
    return table.stackedText(on: screen) ?? table.text(on: screen, hasHeader: hasHeader)
  }
}

/// The mistakes in a file.
struct ProblemsView: OutputView {
  private let problems: [ErrorView]

  /// The view of `problems`, in their order.
  init(_ problems: [ErrorView]) {
    self.problems = problems
  }

  /// The document `{"valid", "problems": [{"code", "message", "hint"}]}`.
  var json: JSONValue { ["valid": .boolean(problems.isEmpty), "problems": .array(records)] }

  /// The names of the members of a problem.
  var columns: [String] { ["code", "message", "hint"] }

  /// One object for each problem.
  var records: [JSONValue] { problems.map(\.json) }

  /// One line for each problem, with its hint.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    problems.map { "\($0.line)\n" }.joined()
  }

  /// The number of problems.
  var status: StatusLine? {
    problems.isEmpty
      ? StatusLine(["The configuration is valid"])
      : StatusLine([NumberText.count(problems.count, "problem", "problems")], style: .red)
  }
}

/// The place where the file may be.
struct PathView: OutputView {
  /// The absolute path.
  let path: String
  /// Whether the file exists, and is used.
  let exists: Bool
  /// What gives the place, such as "--config" or "default".
  let source: String

  /// The document `{"file", "searched": [{"path", "exists", "used", "source"}]}`.
  var json: JSONValue { ["file": exists ? .string(path) : .null, "searched": .array(records)] }

  /// The names of the members of a place.
  var columns: [String] { ["path", "exists", "used", "source"] }

  /// The place.
  var records: [JSONValue] {
    [["path": .string(path), "exists": .boolean(exists), "used": .boolean(exists), "source": .string(source)]]
  }

  /// One line.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    let use: Table.Cell = exists ? .init("used", .green) : .init("not there", .dim)
    let columns: [Table.Column] = [.init("File"), .init("State"), .init("Named by")]
    let table = Table(columns, rows: [[.init(path), use, .init(source, .dim)]])
    return table.stackedText(on: screen, below: .max) ?? table.text(on: screen, hasHeader: hasHeader)
  }

  /// The remark that defaults are used, if there is no file.
  var status: StatusLine? { exists ? nil : StatusLine(["No file: every setting has its default"]) }
}
