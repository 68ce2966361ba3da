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
