/// One backend with its options.
public struct BackendView: SingleRecordView {
  /// An option of a backend.
  public struct OptionRow: Sendable, Hashable {
    /// The name in the configuration.
    public let name: String
    /// The type of its values, such as "size" or "full|normal|relaxed".
    public let type: String
    /// The default as the configuration writes it; `null` for none.
    public let defaultValue: JSONValue
    /// Its purpose, in one line.
    public let help: String
    /// Whether a value must be given.
    public let isRequired: Bool
    /// Whether its value is never shown.
    public let isSecret: Bool

    /// An option of a backend.
    public init(
      name: String, type: String, defaultValue: JSONValue, help: String, isRequired: Bool, isSecret: Bool
    ) {
      self.name = name
      self.type = type
      self.defaultValue = defaultValue
      self.help = help
      self.isRequired = isRequired
      self.isSecret = isSecret
    }

    fileprivate var json: JSONValue {
      [
        "name": .string(name), "type": .string(type), "default": defaultValue, "help": .string(help),
        "required": .boolean(isRequired), "secret": .boolean(isSecret),
      ]
    }

    fileprivate var cells: [Table.Cell] {
      let value: Table.Cell =
        if isRequired { .init("required", .yellow) } else {
          .init(defaultValue == .null ? nil : CSVText.field(defaultValue))
        }
      return [.init(name, .bold), .init(type, .plain), value, .init(isSecret ? "\(help) (secret)" : help, .plain)]
    }
  }

  private let backend: BackendRow
  private let options: [OptionRow]

  /// The view of `backend` with its `options`, in their order.
  public init(_ backend: BackendRow, options: [OptionRow]) {
    self.backend = backend
    self.options = options
  }

  /// The document: the members of `backends list`, and "options".
  public var json: JSONValue { .object(backend.members + [.init("options", .array(options.map(\.json)))]) }

  /// The facts about the backend, one per line, then a table of its options.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let capabilities = backend.capabilities.joined(separator: ", ")
    let facts = Details.text(
      [
        ("Name", .init(backend.name, .bold)), ("Version", .init(backend.version)),
        ("Summary", .init(backend.summary, .plain)), ("Library", .init(backend.path ?? "built in", .plain)),
        ("Capabilities", .init(capabilities.isEmpty ? nil : capabilities)),
      ], on: screen)
    return options.isEmpty ? facts : facts + "\n" + optionTable.text(on: screen)
  }

  private var optionTable: Table {
    let columns: [Table.Column] = [
      .init("Option"), .init("Type", isShrinkable: true), .init("Default", isShrinkable: true),
      .init("Meaning", isShrinkable: true),
    ]
    return Table(columns, rows: options.map(\.cells))
  }
}
