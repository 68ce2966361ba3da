internal import CachePresentation
internal import EngineAPI

/// The description of a backend.
struct BackendRow: Sendable, Hashable {
  /// The name.
  let name: String
  /// The version of the backend, or of the library under it; `nil` if unknown, because the backend is not loaded.
  let version: String?
  /// What it is, in one line.
  let summary: String
  /// Where its library is; `nil` if it is built in.
  let path: String?
  /// Its capabilities, in the order of display.
  let capabilities: [String]

  /// The description of a backend, loaded or not.
  init(name: String, version: String?, summary: String, path: String?, capabilities: [String]) {
    self.name = name
    self.version = version
    self.summary = summary
    self.path = path
    self.capabilities = capabilities
  }

  /// Whether it is part of the program.
  var isBuiltIn: Bool { path == nil }

  /// The names of the members of a backend's document.
  static let columns = ["name", "version", "summary", "builtIn", "path", "capabilities"]

  /// The members of the backend's document, in order.
  var members: [JSONValue.Member] {
    [
      .init("name", .string(name)), .init("version", JSONValue(version)), .init("summary", .string(summary)),
      .init("builtIn", .boolean(isBuiltIn)), .init("path", JSONValue(path)),
      .init("capabilities", JSONValue(capabilities)),
    ]
  }
}

/// The backends that can be chosen.
struct BackendsView: OutputView {
  private let backends: [BackendRow]
  private let selected: String?
  /// Warnings about libraries that are not backends.
  let warnings: [ErrorView]

  /// The view of `backends`; the one called `selected` is in use.
  init(_ backends: [BackendRow], selected: String? = nil, warnings: [ErrorView] = []) {
    self.backends = backends
    self.selected = selected
    self.warnings = warnings
  }

  /// The array of the backends.
  var json: JSONValue { .array(records) }

  /// The names of the members of a backend.
  var columns: [String] { BackendRow.columns }

  /// The backends.
  var records: [JSONValue] { backends.map { .object($0.members) } }

  /// The backends, with an asterisk before the selected one.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    let columns: [Table.Column] = [
      .init(""), .init("Name", priority: 1), .init("Version"), .init("Summary", isShrinkable: true, minimum: 24),
      .init("Library", priority: -1, isShrinkable: true, isCutInMiddle: true),
      .init("Capabilities", priority: -2, isShrinkable: true, minimum: 20),
    ]
    let table = Table(columns, rows: backends.map(row))
    return table.stackedText(on: screen, leading: 3) ?? table.text(on: screen, hasHeader: hasHeader)
  }

  private func row(_ backend: BackendRow) -> [Table.Cell] {
    // A library that is not loaded is not in use, whatever its name.
    let isSelected = backend.name == selected && backend.version != nil
    let capabilities = backend.capabilities.joined(separator: ", ")
    return [
      .init(isSelected ? "*" : "", .green), .init(backend.name, isSelected ? .bold : .plain),
      .init(backend.version), .init(backend.summary, .plain), .init(backend.path ?? "built in", .dim),
      .init(capabilities.isEmpty ? nil : capabilities),
    ]
  }
}

/// One backend with its options.
struct BackendView: SingleRecordView {
  private let backend: BackendRow
  private let options: [EngineOption]

  /// The view of `backend` with its `options`, in their order.
  init(_ backend: BackendRow, options: [EngineOption]) {
    self.backend = backend
    self.options = options
  }

  /// The document: the members of `backends list`, and "options".
  var json: JSONValue { .object(backend.members + [.init("options", .array(options.map(\.document)))]) }

  /// The facts about the backend, one per line, then a table of its options.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    let capabilities = backend.capabilities.joined(separator: ", ")
    let facts = Details.wrappedText(
      [
        ("Name", .init(backend.name, .bold)), ("Version", .init(backend.version)),
        ("Summary", .init(backend.summary, .plain)), ("Library", .init(backend.path ?? "built in", .plain)),
        ("Capabilities", .init(capabilities.isEmpty ? nil : capabilities)),
      ], on: screen)
    guard !options.isEmpty else { return facts }
    let (table, narrow) = (optionTable, 80)
    let text = table.stackedText(on: screen, below: narrow) ?? table.wrappingLastColumn(on: screen).text(on: screen)
    return facts + "\n" + text
  }

  private var optionTable: Table {
    let columns: [Table.Column] = [
      .init("Option"), .init("Type", priority: -2, isShrinkable: true),
      .init("Default", priority: -1, isShrinkable: true), .init("Meaning"),
    ]
    return Table(columns, rows: options.map(\.cells))
  }
}

extension EngineOption {
  /// The default as the configuration writes it; `null` for none.
  private var defaultDocument: JSONValue { defaultValue.map(kind.json) ?? .null }

  /// The document of the option.
  fileprivate var document: JSONValue {
    [
      "name": .string(name), "type": .string(kind.typeName), "default": defaultDocument, "help": .string(help),
      "required": .boolean(isRequired), "secret": .boolean(isSecret),
    ]
  }

  fileprivate var cells: [Table.Cell] {
    let value: Table.Cell =
      if isRequired { .init("required", .yellow) } else {
        .init(defaultValue == nil ? nil : CSVText.field(defaultDocument))
      }
    return [
      .init(name, .bold), .init(kind.typeName, .plain), value, .init(isSecret ? "\(help) (secret)" : help, .plain),
    ]
  }
}

extension EngineOption.Kind {
  fileprivate var typeName: String {
    switch self {
    case .text: "text"
    case .path: "path"
    case .integer: "integer"
    case .size: "size"
    case .duration: "duration"
    case .boolean: "boolean"
    case .choice(let names): names.joined(separator: "|")
    case .storeName: "name"
    }
  }

  /// The value as the configuration writes it.
  fileprivate func json(_ value: OptionValue) -> JSONValue {
    switch (self, value) {
    case (.size, .integer(let bytes)): .string(ByteSizeText(bytes: bytes).description)
    case (.duration, .integer(let milliseconds)): .string(DurationText(milliseconds: milliseconds).description)
    case (_, .integer(let number)): .integer(Int(number))
    case (_, .text(let text)): .string(text)
    case (_, .boolean(let flag)): .boolean(flag)
    }
  }
}
