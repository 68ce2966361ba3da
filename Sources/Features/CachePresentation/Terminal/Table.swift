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
    let isShrinkable: Bool
    let isCutInMiddle: Bool

    /// A column under `title`. Shrinkable columns shrink first if the line is too short. Texts are cut at the end, or
    /// in the middle where the end says more.
    public init(
      _ title: String, _ alignment: Alignment = .left, isShrinkable: Bool = false, isCutInMiddle: Bool = false
    ) {
      self.title = title
      self.alignment = alignment
      self.isShrinkable = isShrinkable
      self.isCutInMiddle = isCutInMiddle
    }

    func cut(_ text: String, to width: Int) -> String {
      isCutInMiddle
        ? DisplayWidth.truncatedInMiddle(text, to: width) : DisplayWidth.truncated(text, to: width)
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

  let columns: [Column]
  let rows: [[Cell]]

  /// A table; every row has one cell per column.
  public init(_ columns: [Column], rows: [[Cell]]) {
    self.columns = columns
    self.rows = rows
  }

  /// The lines of the table, each with its line end; empty if there are no rows.
  ///
  /// No line is longer than a known width of `screen`: shrinkable columns are cut with an ellipsis, then the last
  /// columns. Otherwise nothing is cut. No line ends in spaces.
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
    let widths = fitted(natural, to: screen.width)
    var bytes: [UInt8] = []
    for row in shown { append(row, widths, hasColor: screen.hasColor, to: &bytes) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The lines of the table for other programs: whole texts, with a tab between columns.
  package func tabbedText(hasHeader: Bool) -> String {
    guard !rows.isEmpty else { return "" }
    let header = hasHeader ? [columns.map(\.title)] : []
    return (header + rows.map { $0.map(\.text) }).map { $0.joined(separator: "\t") + "\n" }.joined()
  }

  /// This table without as many of the columns `titles`, from the first on, as it takes for a line to fit `screen`.
  package func leavingOut(_ titles: [String], on screen: Screen) -> Table {
    guard let limit = screen.width, let title = titles.first else { return self }
    let widths = naturalWidths(of: [columns.map { Cell($0.title) }] + rows)
    guard ColumnWidths.total(widths) > limit else { return self }
    let kept = columns.indices.filter { columns[$0].title != title }
    let narrower = Table(kept.map { columns[$0] }, rows: rows.map { row in kept.map { row[$0] } })
    return narrower.leavingOut(Array(titles.dropFirst()), on: screen)
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

  func naturalWidths(of rows: [[Cell]], atLeast minimum: [Int] = []) -> [Int] {
    var natural = minimum.isEmpty ? columns.map { _ in 0 } : minimum
    for row in rows {
      for (index, cell) in zip(natural.indices, row) {
        natural[index] = max(natural[index], DisplayWidth.width(cell.text))
      }
    }
    return natural
  }

  private func fitted(_ natural: [Int], to limit: Int?) -> [Int] {
    guard let limit else { return natural }
    return ColumnWidths.fit(natural, isShrinkable: columns.map(\.isShrinkable), limit: limit)
  }

  /// Holds spaces back until a text follows, so that no line ends in spaces.
  private func append(_ row: [Cell], _ widths: [Int], hasColor: Bool, to bytes: inout [UInt8]) {
    var spaces = 0
    for (index, width) in widths.enumerated() {
      let content = columns[index].cut(row[index].text, to: width)
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
  /// Below this number of cells, columns of names and sentences leave each other no space.
  private static let narrow = 60

  /// The rows stacked instead of in columns, if `screen` is narrow and the columns do not fit: the first `leading`
  /// cells of a row on a line, the others beside them if they fit, otherwise below, indented and broken between words.
  /// `nil` if columns are to be drawn.
  package func stackedText(on screen: Screen, leading: Int = 1) -> String? {
    guard let width = screen.width, width < Self.narrow else { return nil }
    let natural = naturalWidths(of: [columns.map { Cell($0.title) }] + rows)
    guard ColumnWidths.total(natural) > width else { return nil }
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

  /// The widths of the columns that fit into `limit` cells.
  ///
  /// The widest shrinkable columns shrink first, down to `minimum` cells each (or to their own width, if that is less).
  /// If that is not enough, the last columns are cut and then left out.
  static func fit(_ natural: [Int], isShrinkable: [Bool], limit: Int, minimum: Int = 8) -> [Int] {
    var widths = natural
    var excess = total(widths) - limit
    while excess > 0, let index = widest(widths, isShrinkable, minimum) {
      widths[index] -= 1
      excess -= 1
    }
    return excess > 0 ? cut(widths, limit) : widths
  }

  /// The total width of columns with these widths.
  static func total(_ widths: [Int]) -> Int {
    widths.reduce(0, +) + gap * max(widths.count - 1, 0)
  }

  /// The widest column that can still shrink; the last one if several are equal.
  private static func widest(_ widths: [Int], _ isShrinkable: [Bool], _ minimum: Int) -> Int? {
    widths.indices.filter { isShrinkable[$0] && widths[$0] > minimum }.max { widths[$0] <= widths[$1] }
  }

  private static func cut(_ widths: [Int], _ limit: Int) -> [Int] {
    var kept: [Int] = []
    var left = limit
    for width in widths {
      guard left > 0 else { break }
      kept.append(min(width, left))
      left -= width + gap
    }
    return kept
  }
}

/// Breaks text into lines.
enum LineWrap {
  /// `text` broken at spaces into lines of at most `width` cells; at least one line. A longer word stays whole: it may
  /// be a key or an address that people copy.
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
