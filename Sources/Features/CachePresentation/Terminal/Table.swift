/// A table for people: a heading, and aligned columns.
public struct Table: Sendable {
  /// The alignment of texts in a column.
  public enum Alignment: Sendable, Hashable {
    /// Left, for words.
    case left
    /// Right, for numbers.
    case right
  }

  /// A column.
  public struct Column: Sendable {
    let title: String
    let alignment: Alignment
    let priority: Int
    let isShrinkable: Bool
    let minimum: Int
    let isCutInMiddle: Bool

    /// A column under `title`.
    ///
    /// - Parameters:
    ///   - priority: how much the column matters: if the line is too short, columns of the lowest priority are the first
    ///     to shrink, and the first to be left out.
    ///   - isShrinkable: whether the column can become narrower than its texts. Do not set this for numbers: a number
    ///     that was cut reads as another number.
    ///   - minimum: the width in cells to which the column shrinks at most; in less it would say too little.
    ///   - isCutInMiddle: whether texts are cut in the middle and not at the end, and still show their difference from the
    ///     texts above and below.
    public init(
      _ title: String, _ alignment: Alignment = .left, priority: Int = 0, isShrinkable: Bool = false,
      minimum: Int = 8, isCutInMiddle: Bool = false
    ) {
      self.title = title
      self.alignment = alignment
      self.priority = priority
      self.isShrinkable = isShrinkable
      self.minimum = minimum
      self.isCutInMiddle = isCutInMiddle
    }

    func cut(_ text: String, to width: Int, among neighbors: [String]) -> String {
      guard isCutInMiddle else { return DisplayWidth.truncated(text, to: width) }
      return DisplayWidth.truncatedInMiddle(text, to: width, differingFrom: neighbors)
    }
  }

  /// A text in a column.
  public struct Cell: Sendable, ExpressibleByStringInterpolation {
    let text: String
    let style: TextStyle

    /// A cell with `text`, made safe for a terminal, in `style`.
    public init(_ text: String, _ style: TextStyle = .plain) {
      self.text = TerminalText.line(text)
      self.style = style
    }

    /// A plain cell with the text `value`, made safe for a terminal.
    public init(stringLiteral value: String) { self.init(value) }

    /// A cell with `text`, or a dim "-" for `nil`.
    public init(_ text: String?) {
      if let text { self.init(text, .plain) } else { self.init("-", .dim) }
    }
  }

  /// The treatment of texts that are too long for the screen.
  public enum Layout: Sendable {
    /// They are cut, and if that is not enough, columns are left out.
    case cut
    /// Those of the last column are continued on the next lines.
    case wrapped
    /// On a screen narrower than `below` the cells of a row are below each other, the first `leading` on one line;
    /// otherwise they are cut.
    case stacked(leading: Int = 1, below: Int = 60)
    /// Nothing: lines are as long as they are.
    case whole
  }

  let columns: [Column]
  let rows: [[Cell]]

  /// A table; every row has one cell per column.
  public init(_ columns: [Column], rows: [[Cell]]) {
    self.columns = columns
    self.rows = rows
  }

  /// The lines of the table in `layout`, each with its line end; empty if there are no rows.
  public func text(on screen: Screen, hasHeader: Bool = true, layout: Layout) -> String {
    switch layout {
    case .cut: text(on: screen, hasHeader: hasHeader)
    case .wrapped: wrappingLastColumn(on: screen).text(on: screen.unlimited, hasHeader: hasHeader)
    case .stacked(let leading, let narrow):
      stackedText(on: screen, leading: leading, below: narrow) ?? text(on: screen, hasHeader: hasHeader)
    case .whole: text(on: screen.unlimited, hasHeader: hasHeader)
    }
  }

  /// The lines of the table, each with its line end; empty if there are no rows.
  ///
  /// If the table is wider than `screen`, shrinkable columns are cut with an ellipsis. If that is not enough, columns are
  /// left out, and a line below the table names them. Numbers are never cut. No line ends in spaces.
  public func text(on screen: Screen, hasHeader: Bool = true) -> String {
    var widths: [Int] = []
    return text(on: screen, hasHeader: hasHeader, below: &widths)
  }

  /// The text of one of several tables below each other, each at least as wide as those before it. Pass empty `widths`
  /// first; afterwards they are the widths of the columns so far.
  package func text(on screen: Screen, hasHeader: Bool, below natural: inout [Int]) -> String {
    guard !rows.isEmpty else { return "" }
    let header = columns.map { Cell($0.title, .bold) }
    let shown = hasHeader ? [header] + rows : rows
    natural = naturalWidths(of: shown, atLeast: natural)
    let widths = screen.width.map { ColumnWidths.fit(natural, of: columns, limit: $0) } ?? natural
    var bytes: [UInt8] = []
    for index in shown.indices {
      let neighbors = [index - 1, index + 1].filter(shown.indices.contains).map { shown[$0] }
      append(shown[index], among: neighbors, widths, hasColor: screen.hasColor, to: &bytes)
    }
    let text = String(decoding: bytes, as: UTF8.self)
    return hasHeader ? text + remark(on: columns.indices.filter { widths[$0] < 0 }, screen) : text
  }

  /// The lines that name the columns at `missing`, which are left out; empty if there are none, or they have no titles.
  private func remark(on missing: [Int], _ screen: Screen) -> String {
    let titles = missing.map { columns[$0].title }.filter { !$0.isEmpty }
    guard let width = screen.width, !titles.isEmpty else { return "" }
    return LineWrap.lines("Too narrow to show: \(titles.joined(separator: ", "))", width: width).map { line in
      TextStyle.dim.apply(DisplayWidth.truncated(line, to: width), hasColor: screen.hasColor) + "\n"
    }.joined()
  }

  /// The lines of the table for other programs: whole texts, with a tab between columns.
  package func tabbedText(hasHeader: Bool) -> String {
    guard !rows.isEmpty else { return "" }
    let header = hasHeader ? [columns.map(\.title)] : []
    return (header + rows.map { $0.map(\.text) }).map { $0.joined(separator: "\t") + "\n" }.joined()
  }

  /// This table with long texts of the last column continued on the next lines instead of cut for `screen`.
  package func wrappingLastColumn(on screen: Screen) -> Table {
    guard let limit = screen.width, columns.count > 1 else { return self }
    let others = naturalWidths(of: [columns.map { Cell($0.title) }] + rows).dropLast()
    let room = max(limit - others.reduce(0) { $0 + $1 + ColumnWidths.gap }, 20)
    return Table(columns, rows: rows.flatMap { Self.wrapped($0, to: room) })
  }

  private static func wrapped(_ row: [Cell], to width: Int) -> [[Cell]] {
    guard let last = row.last else { return [row] }
    let empty = row.dropLast().map { _ in Cell("", .plain) }
    return LineWrap.lines(last.text, width: width).enumerated().map { index, line in
      (index == 0 ? Array(row.dropLast()) : empty) + [Cell(line, last.style)]
    }
  }

  /// Whether nothing needs to be cut on `screen`.
  package func fits(on screen: Screen) -> Bool {
    ColumnWidths.total(naturalWidths(of: [columns.map { Cell($0.title) }] + rows)) <= screen.width ?? .max
  }

  private func naturalWidths(of rows: [[Cell]], atLeast minimum: [Int] = []) -> [Int] {
    var natural = minimum.isEmpty ? columns.map { _ in 0 } : minimum
    for row in rows {
      for (index, cell) in zip(natural.indices, row) {
        natural[index] = max(natural[index], DisplayWidth.width(cell.text))
      }
    }
    return natural
  }

  /// Holds spaces back until a text follows, so that no line ends in spaces.
  private func append(
    _ row: [Cell], among neighbors: [[Cell]], _ widths: [Int], hasColor: Bool, to bytes: inout [UInt8]
  ) {
    var spaces = 0
    for (index, width) in widths.enumerated() where width >= 0 {
      let content = columns[index].cut(row[index].text, to: width, among: neighbors.map { $0[index].text })
      let padding = width - DisplayWidth.width(content)
      let isRight = columns[index].alignment == .right
      if isRight { spaces += padding }
      if !content.isEmpty {
        bytes += repeatElement(UInt8(ascii: " "), count: spaces)
        bytes += row[index].style.apply(content, hasColor: hasColor).utf8
        spaces = 0
      }
      spaces += (isRight ? 0 : padding) + ColumnWidths.gap
    }
    bytes.append(UInt8(ascii: "\n"))
  }
}

/// Tables on a screen too narrow for columns.
extension Table {
  /// The rows stacked instead of in columns, if `screen` is narrower than `narrow` cells and the columns do not fit:
  /// the first `leading` cells of a row on a line, the others next to them if they fit, otherwise below, indented and
  /// broken between words. `nil` if columns are to be drawn.
  ///
  /// In less than 60 cells, columns of names and sentences leave each other no space.
  package func stackedText(on screen: Screen, leading: Int = 1, below narrow: Int = 60) -> String? {
    guard let width = screen.width, width < narrow, !fits(on: screen) else { return nil }
    let lines = rows.flatMap { row in Self.stacked(row, leading: leading, to: width) }
    return lines.map { line in
      line.indent + line.cells.map { $0.style.apply($0.text, hasColor: screen.hasColor) }.joined(separator: "  ") + "\n"
    }.joined()
  }

  private static func stacked(
    _ row: [Cell], leading: Int, to width: Int
  ) -> [(indent: String, cells: [Cell])] {
    let head = row.prefix(leading).filter { !$0.text.isEmpty }
    let rest = row.dropFirst(leading).filter { !$0.text.isEmpty }
    if !head.isEmpty, ColumnWidths.total((head + rest).map { DisplayWidth.width($0.text) }) <= width {
      return [("", head + rest)]
    }
    let below = rest.flatMap { cell in
      LineWrap.lines(cell.text, width: width - ColumnWidths.gap).map { (indent: "  ", cells: [Cell($0, cell.style)]) }
    }
    return (head.isEmpty ? [] : [("", head)]) + below
  }
}

/// Fits the columns of a table into a line.
enum ColumnWidths {
  /// The number of blank cells between two columns.
  static let gap = 2

  /// The widths of `columns` in a line of `limit` cells, given the width of each one's widest text; -1 for a column that
  /// is left out.
  ///
  /// Columns of the lowest priority are dropped first, the last of equal ones first, until the rest fits with each
  /// shrinkable column at its minimum. Then the columns that stay get their natural widths, and those of the lowest
  /// priority shrink first, the widest of equal ones first. One column always stays. A text alone on the line is cut,
  /// but a number is not.
  static func fit(_ natural: [Int], of columns: [Table.Column], limit: Int) -> [Int] {
    let least = columns.indices.map { columns[$0].isShrinkable ? min(natural[$0], columns[$0].minimum) : natural[$0] }
    var kept = Array(columns.indices)
    while kept.count > 1, total(kept.map { least[$0] }) > limit {
      let lowest = kept.reversed().min { columns[$0].priority < columns[$1].priority }
      kept.removeAll { $0 == lowest }
    }
    var widths = columns.indices.map { kept.contains($0) ? natural[$0] : -1 }
    var excess = total(kept.map { natural[$0] }) - limit
    while excess > 0, let index = nextToShrink(kept.filter { widths[$0] > least[$0] }, widths, columns) {
      widths[index] -= 1
      excess -= 1
    }
    if excess > 0, columns[kept[0]].alignment == .left { widths[kept[0]] = max(limit, 0) }
    return widths
  }

  /// The total width of columns with these widths.
  static func total(_ widths: [Int]) -> Int {
    widths.reduce(0, +) + gap * max(widths.count - 1, 0)
  }

  /// Of the columns at `candidates`, the one to shrink by a cell.
  private static func nextToShrink(_ candidates: [Int], _ widths: [Int], _ columns: [Table.Column]) -> Int? {
    candidates.max { one, other in
      let (first, second) = (columns[one].priority, columns[other].priority)
      return first == second ? widths[one] <= widths[other] : first > second
    }
  }
}

/// Breaks text into lines.
enum LineWrap {
  /// `text` broken at spaces into lines of at most `width` cells; at least one line. A longer word stays whole: it
  /// might be a key or an address that people copy.
  static func lines(_ text: String, width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
      let longer = line.isEmpty ? String(word) : "\(line) \(word)"
      if !line.isEmpty, DisplayWidth.width(longer) > width {
        lines.append(line)
        line = String(word)
      } else {
        line = longer
      }
    }
    return lines + [line]
  }
}
