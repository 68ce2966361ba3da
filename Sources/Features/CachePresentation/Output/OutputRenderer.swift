/// Renders any view in one format, for one screen.
public struct OutputRenderer: Sendable {
  /// The format.
  public let format: OutputFormat
  /// The screen that will show the text.
  public let screen: Screen

  /// A renderer for `format` on `screen`.
  public init(_ format: OutputFormat, on screen: Screen) {
    self.format = format
    self.screen = screen
  }

  /// The text of `view` for the standard output, ending in a line end; empty if there is nothing to write.
  ///
  /// With `hasHeader` false the text continues an earlier one: tables and CSV then have no heading.
  public func text(_ view: some OutputView, hasHeader: Bool = true) -> String {
    switch format {
    case .table: view.table(on: screen, hasHeader: hasHeader)
    case .json: JSONText.text(view.json) + "\n"
    case .ndjson: lines(view.records)
    case .csv: csv(view, hasHeader: hasHeader)
    }
  }

  private func lines(_ records: [JSONValue]) -> String {
    var bytes: [UInt8] = []
    for record in records {
      JSONText.append(record, to: &bytes)
      bytes.append(UInt8(ascii: "\n"))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func csv(_ view: some OutputView, hasHeader: Bool) -> String {
    let columns = view.columns
    let rows = view.records.map { record in columns.map { field(record[$0] ?? .null) } }
    return CSVText.text(hasHeader ? [columns] + rows : rows)
  }

  private func field(_ value: JSONValue) -> String {
    let text = CSVText.field(value)
    return screen.isTerminal ? TerminalText.line(text) : text
  }
}

/// A format for data.
public enum OutputFormat: String, Sendable, CaseIterable {
  /// For people.
  case table
  /// One JSON document, on one line.
  case json
  /// One JSON object per line, one for each record.
  case ndjson
  /// Comma-separated values, one line for each record, after a header.
  case csv
}
