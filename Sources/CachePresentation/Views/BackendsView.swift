/// The backends that can be chosen.
public struct BackendsView: OutputView {
  private let backends: [BackendRow]
  private let selected: String?

  /// The view of `backends`, of which the one called `selected` is in use.
  public init(_ backends: [BackendRow], selected: String? = nil) {
    self.backends = backends
    self.selected = selected
  }

  /// The array of the backends.
  public var json: JSONValue { .array(records) }

  /// The names of the members of a backend.
  public var columns: [String] { BackendRow.columns }

  /// The backends.
  public var records: [JSONValue] { backends.map { .object($0.members) } }

  /// The backends; an asterisk stands before the selected one.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let columns: [Table.Column] = [
      .init(""), .init("Name"), .init("Version"), .init("Summary", isShrinkable: true),
      .init("Capabilities", isShrinkable: true), .init("Library", isShrinkable: true),
    ]
    return Table(columns, rows: backends.map(row)).text(on: screen, hasHeader: hasHeader)
  }

  private func row(_ backend: BackendRow) -> [Table.Cell] {
    let isSelected = backend.name == selected
    let capabilities = backend.capabilities.joined(separator: ", ")
    return [
      .init(isSelected ? "*" : "", .green), .init(backend.name, isSelected ? .bold : .plain),
      .init(backend.version, .plain), .init(backend.summary, .plain),
      .init(capabilities.isEmpty ? nil : capabilities), .init(backend.path ?? "built in", .dim),
    ]
  }
}
