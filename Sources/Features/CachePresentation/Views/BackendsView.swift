/// The backends that can be chosen.
public struct BackendsView: OutputView {
  private let backends: [BackendRow]
  private let selected: String?
  /// Warnings about libraries that are not backends.
  public let warnings: [ErrorView]

  /// The view of `backends`; the one called `selected` is in use.
  public init(_ backends: [BackendRow], selected: String? = nil, warnings: [ErrorView] = []) {
    self.backends = backends
    self.selected = selected
    self.warnings = warnings
  }

  /// The array of the backends.
  public var json: JSONValue { .array(records) }

  /// The names of the members of a backend.
  public var columns: [String] { BackendRow.columns }

  /// The backends.
  public var records: [JSONValue] { backends.map { .object($0.members) } }

  /// The backends, with an asterisk before the selected one.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let columns: [Table.Column] = [
      .init(""), .init("Name"), .init("Version"), .init("Library", isShrinkable: true),
      .init("Capabilities", isShrinkable: true), .init("Summary", isShrinkable: true),
    ]
    return Table(columns, rows: backends.map(row)).text(on: screen, hasHeader: hasHeader)
  }

  private func row(_ backend: BackendRow) -> [Table.Cell] {
    // A library that is not loaded is not in use, whatever its name.
    let isSelected = backend.name == selected && backend.version != nil
    let capabilities = backend.capabilities.joined(separator: ", ")
    return [
      .init(isSelected ? "*" : "", .green), .init(backend.name, isSelected ? .bold : .plain),
      .init(backend.version), .init(backend.path ?? "built in", .dim),
      .init(capabilities.isEmpty ? nil : capabilities), .init(backend.summary, .plain),
    ]
  }
}
