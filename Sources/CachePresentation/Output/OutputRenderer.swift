/// Makes the text of any view in one format, for one place.
public struct OutputRenderer: Sendable {
  /// The format.
  public let format: OutputFormat
  /// Where the text is going to be shown.
  public let screen: Screen

  /// A renderer for `format` on `screen`.
  public init(_ format: OutputFormat, on screen: Screen) {
    self.format = format
    self.screen = screen
  }

  /// The text of `view` for the standard output, ending in a line end; empty where there is nothing to write.
  ///
  /// `hasHeader` is false for what continues an earlier text: tables and CSV then begin without a heading.
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
