internal import CacheComposition
internal import CachePresentation

/// The effective configuration.
struct SettingsView: OutputView {
  private let configuration: Configuration
  private let showsOrigin: Bool

  /// The view of the settings of `configuration`, in the order of the schema; `showsOrigin` adds the origin of each,
  /// and the file.
  init(_ configuration: Configuration, showsOrigin: Bool) {
    self.configuration = configuration
    self.showsOrigin = showsOrigin
  }

  /// Without origins, a document that is a valid configuration itself; with them `{"file", "trust", "settings":
  /// [{"key", "value", "origin"}]}`, the first two `null` if no file is used.
  var json: JSONValue {
    guard showsOrigin else { return configuration.document }
    let trust = configuration.file.map { _ in configuration.trust.text }
    return ["file": JSONValue(configuration.file), "trust": JSONValue(trust), "settings": .array(records)]
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

  /// The file with its trust, if origins are shown.
  var status: StatusLine? {
    guard showsOrigin else { return nil }
    let file = configuration.file.map { "\($0) (\(configuration.trust.text))" }
    return StatusLine([file ?? "No file: every setting has its default"])
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

/// The places where a file may be.
struct PathsView: OutputView {
  /// A place for the file.
  struct PathRow: Sendable, Hashable {
    /// The absolute path.
    let path: String
    /// Whether the file exists.
    let exists: Bool
    /// Whether this file is in use.
    let isUsed: Bool
    /// What gives the place, such as "--config" or "default".
    let source: String
    /// Whether the file may be used, in a few words; `nil` if unknown.
    let trust: String?

    /// A place for the file.
    init(path: String, exists: Bool, isUsed: Bool, source: String, trust: String?) {
      self.path = path
      self.exists = exists
      self.isUsed = isUsed
      self.source = source
      self.trust = trust
    }
  }

  private let paths: [PathRow]

  /// The view of `paths`, in the order in which they are searched.
  init(_ paths: [PathRow]) {
    self.paths = paths
  }

  /// The document `{"file", "searched": [{"path", "exists", "used", "source", "trust"}]}`.
  var json: JSONValue {
    ["file": JSONValue(paths.first(where: \.isUsed)?.path), "searched": .array(records)]
  }

  /// The names of the members of a place.
  var columns: [String] { ["path", "exists", "used", "source", "trust"] }

  /// One object for each place.
  var records: [JSONValue] {
    paths.map { row in
      [
        "path": .string(row.path), "exists": .boolean(row.exists), "used": .boolean(row.isUsed),
        "source": .string(row.source), "trust": JSONValue(row.trust),
      ]
    }
  }

  /// One line for each place.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    let rows: [[Table.Cell]] = paths.map { row in
      let trust = row.trust.map { row.isUsed ? "used, \($0)" : $0 }
      let use: Table.Cell =
        row.isUsed
        ? .init(trust ?? "used", .green) : .init(trust ?? (row.exists ? "not reached" : "not there"), .dim)
      return [.init(row.path), use, .init(row.source, .dim)]
    }
    let table = Table([.init("File"), .init("State"), .init("Named by")], rows: rows)
    return table.stackedText(on: screen, below: .max) ?? table.text(on: screen, hasHeader: hasHeader)
  }

  /// The remark that defaults are used, if there is no file.
  var status: StatusLine? {
    paths.contains { $0.isUsed || $0.trust != nil } ? nil : StatusLine(["No file: every setting has its default"])
  }
}

/// A configuration file that the user trusts from now on, and its settings that need trust.
struct TrustView: OutputView {
  private let path: String
  private let settings: [UnsafeSetting]

  /// The view of the file at `path` and of its settings.
  init(path: String, settings: [UnsafeSetting]) {
    self.path = path
    self.settings = settings
  }

  /// The document `{"path", "settings": [{"key", "value"}]}`.
  var json: JSONValue { ["path": .string(path), "settings": .array(records)] }

  /// The names of the members of a setting.
  var columns: [String] { ["key", "value"] }

  /// The settings.
  var records: [JSONValue] { settings.map { ["key": .string($0.key), "value": $0.value] } }

  /// The settings, one per line.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    let rows = settings.map { [Table.Cell($0.key, .plain), Table.Cell(CSVText.field($0.value), .bold)] }
    let table = Table([.init("Setting"), .init("Value")], rows: rows)
    return table.stackedText(on: screen) ?? table.text(on: screen.unlimited, hasHeader: hasHeader)
  }

  /// The remark that the file is trusted.
  var status: StatusLine? {
    settings.isEmpty
      ? StatusLine(["\(path) is trusted, though nothing in it asks for it"]) : StatusLine(["\(path) is trusted"])
  }
}

/// The configuration files that the user trusts.
struct TrustedFilesView: OutputView {
  private let files: [ConfigurationLoader.TrustedFile]

  /// The view of `files` in their order.
  init(_ files: [ConfigurationLoader.TrustedFile]) { self.files = files }

  /// The document `{"files": [{"path", "state", "sha256"}]}`; the state is "trusted", "changed" or "missing".
  var json: JSONValue { ["files": .array(records)] }

  /// The names of the members of a file.
  var columns: [String] { ["path", "state", "sha256"] }

  /// The files.
  var records: [JSONValue] {
    files.map { ["path": .string($0.path), "state": .string($0.state), "sha256": .string($0.digest)] }
  }

  /// The files, one per line.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    let rows = files.map { [Table.Cell($0.state, $0.isCurrent == true ? .green : .yellow), Table.Cell($0.path)] }
    return Table([.init("State"), .init("File")], rows: rows).text(on: screen.unlimited, hasHeader: hasHeader)
  }

  /// The remark that there are none.
  var status: StatusLine? { files.isEmpty ? StatusLine(["No file is trusted"]) : nil }
}

extension ConfigurationLoader.TrustedFile {
  fileprivate var state: String { isCurrent.map { $0 ? "trusted" : "changed" } ?? "missing" }
}
