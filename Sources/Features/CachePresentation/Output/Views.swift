/// A column of a list: one declaration for every format.
public struct Column<Item>: Sendable {
  let name: String?
  let value: @Sendable (Item) -> JSONValue
  let column: Table.Column?
  let cell: @Sendable (_ item: Item, _ index: Int) -> Table.Cell

  /// The member `name` of each record, and a column of the table if `column` describes one. People see the value.
  public init(_ name: String, _ column: Table.Column? = nil, _ value: @escaping @Sendable (Item) -> JSONValue) {
    self.name = name
    self.value = value
    self.column = column
    cell = { item, _ in Table.Cell(value: value(item)) }
  }

  /// The member `name` of each record, of which people see `cell`.
  public init(
    _ name: String, _ column: Table.Column, cell: @escaping @Sendable (Item) -> Table.Cell,
    _ value: @escaping @Sendable (Item) -> JSONValue
  ) {
    self.name = name
    self.value = value
    self.column = column
    self.cell = { item, _ in cell(item) }
  }

  /// A column of the table that is not a member of the records.
  public init(table column: Table.Column, cell: @escaping @Sendable (Item) -> Table.Cell) {
    name = nil
    value = { _ in .null }
    self.column = column
    self.cell = { item, _ in cell(item) }
  }

  /// The column "#" with the number of each row, counted from `first`.
  init(numbersFrom first: Int, priority: Int = 0) {
    name = nil
    value = { _ in .null }
    column = Table.Column("#", .right, priority: priority)
    cell = { _, index in Table.Cell(NumberText.text(first + index), .dim) }
  }
}

extension Array {
  /// The members of the record of `item`.
  package func members<Item>(of item: Item) -> [JSONValue.Member] where Element == Column<Item> {
    compactMap { column in column.name.map { JSONValue.Member($0, column.value(item)) } }
  }
}

extension Table {
  /// The table of `items`, with those of `columns` that tables have.
  package init<Item>(_ items: [Item], _ columns: [CachePresentation.Column<Item>]) {
    // These are loops over numbers: without specialization, `map` and the like create types, and search the whole
    // program for conformances, at each start.
    var shown: [Table.Column] = []
    var cells: [Cell] = []
    cells.reserveCapacity(columns.count * items.count)
    for place in 0..<columns.count {
      let declared = columns[place]
      guard let column = declared.column else { continue }
      shown.append(column)
      for index in 0..<items.count { cells.append(declared.cell(items[index], index)) }
    }
    let count = items.count
    let rows = (0..<count).map { row in shown.indices.map { cells[$0 * count + row] } }
    self.init(shown, rows: rows)
  }
}

/// Several items: the declaration of their columns makes every format.
public struct ListView<Item: Sendable>: OutputView {
  private let items: [Item]
  private let declared: [Column<Item>]
  private let text: @Sendable (Screen, _ hasHeader: Bool) -> String
  private let document: @Sendable ([JSONValue]) -> JSONValue
  /// The remark for people.
  public let status: StatusLine?
  /// The problems that did not stop the list from being shown.
  public let warnings: [ErrorView]

  /// The list of `items`.
  ///
  /// - Parameters:
  ///   - layout: what becomes of texts that are too long for the screen.
  ///   - document: makes the document of the records; by default it is their array.
  ///   - text: the text for people, if it is not a table of `columns`.
  public init(
    _ items: [Item], _ columns: [Column<Item>], layout: Table.Layout = .cut, status: StatusLine? = nil,
    warnings: [ErrorView] = [], document: @escaping @Sendable ([JSONValue]) -> JSONValue = { .array($0) },
    text: (@Sendable (Screen, _ hasHeader: Bool) -> String)? = nil
  ) {
    self.items = items
    declared = columns
    self.text = text ?? { Table(items, columns).text(on: $0, hasHeader: $1, layout: layout) }
    self.document = document
    self.status = status
    self.warnings = warnings
  }

  /// The document of the records.
  public var json: JSONValue { document(records) }
  /// The names of the members of a record.
  public var columns: [String] { declared.compactMap(\.name) }
  /// The records of the items.
  public var records: [JSONValue] { items.map { .object(declared.members(of: $0)) } }
  /// The items, one per line.
  public func table(on screen: Screen, hasHeader: Bool) -> String { text(screen, hasHeader) }
}

/// A fact about one thing: a member of its document, and a line for people. Either can be missing.
public struct Field: Sendable {
  let member: JSONValue.Member?
  let line: [Table.Cell]?

  /// The member `name`, and a line under `title` if there is one. Without `cell` people see the value.
  public init(_ name: String, _ value: JSONValue, _ title: String? = nil, _ cell: Table.Cell? = nil) {
    member = JSONValue.Member(name, value)
    line = title.map { [Table.Cell($0, .dim), cell ?? Table.Cell(value: value)] }
  }

  /// A line for people alone.
  public init(line title: String, _ cell: Table.Cell) {
    member = nil
    line = [Table.Cell(title, .dim), cell]
  }
}

/// One thing, whose only record is its document.
public struct RecordView: OutputView {
  private let fields: [Field]
  private let layout: Table.Layout
  private let text: (@Sendable (Screen) -> String)?
  /// The remark for people.
  public let status: StatusLine?
  /// The problems that did not stop the thing from being shown.
  public let warnings: [ErrorView]

  /// The thing with `fields`.
  ///
  /// - Parameters:
  ///   - layout: what becomes of lines that are too long for the screen. By default nothing: the user asked for them.
  ///   - text: what people see below the fields.
  public init(
    _ fields: [Field], layout: Table.Layout = .whole, status: StatusLine? = nil, warnings: [ErrorView] = [],
    text: (@Sendable (Screen) -> String)? = nil
  ) {
    self.fields = fields
    self.layout = layout
    self.text = text
    self.status = status
    self.warnings = warnings
  }

  /// The thing with `fields`, for which people see one line.
  public init(_ fields: [Field], line: String, status: StatusLine? = nil, warnings: [ErrorView] = []) {
    self.init(fields, status: status, warnings: warnings) { _ in TerminalText.line(line) + "\n" }
  }

  /// The document.
  public var json: JSONValue { .object(fields.compactMap(\.member)) }
  /// The names of the document's members.
  public var columns: [String] { fields.compactMap(\.member?.name) }
  /// The document.
  public var records: [JSONValue] { [json] }

  /// The fields, one per line, and the text below them.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let lines = Table([.init(""), .init("")], rows: fields.compactMap(\.line))
    return lines.text(on: screen, hasHeader: false, layout: layout) + (text?(screen) ?? "")
  }
}

extension Table.Cell {
  /// A value for people: a number with commas, texts with commas between, and a dim "-" for none.
  init(value: JSONValue) {
    switch value {
    case .null, .array([]): self.init("-", .dim)
    case .integer(let number): self.init(NumberText.text(number))
    default: self.init(CSVText.field(value, separator: ", "))
    }
  }

  /// A time for people: exact, and relative to `now`.
  package init(time: Duration, now: Duration) {
    self.init("\(RFC3339Text.text(time)) (\(RelativeTimeText.text(time, now: now)))")
  }

  /// A time in the past for people: exact, and relative to `now`.
  package init(past time: Duration, now: Duration) {
    self.init("\(RFC3339Text.text(time)) (\(RelativeTimeText.past(time, now: now)))")
  }

  /// A number of bytes, rounded and exact.
  package init(bytes count: Int) {
    let text = ByteCountText.text(count)
    self.init(count < 1_024 ? text : "\(text) (\(NumberText.text(count)) bytes)")
  }
}
