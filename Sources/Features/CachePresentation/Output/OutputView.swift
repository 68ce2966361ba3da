// The types in which views describe themselves, without the rest of Base.
@_exported public import enum CacheBase.JSONText
@_exported public import enum CacheBase.JSONValue
@_exported public import enum CacheBase.TerminalText

/// Data that a command prints, in every format.
///
/// Views contain data only. The types that write their texts make them safe for terminals: `JSONText`, `Table.Cell`,
/// `StatusLine`.
public protocol OutputView: Sendable {
  /// The view as one document.
  var json: JSONValue { get }
  /// The names of the members of each record, in order: the CSV header.
  var columns: [String] { get }
  /// One object for each item, with the members named by `columns`.
  var records: [JSONValue] { get }
  /// The text for people, ending in a line end; empty if there is nothing to list.
  func table(on screen: Screen, hasHeader: Bool) -> String
  /// A remark for people about the table, which is not part of the data.
  var status: StatusLine? { get }
  /// Problems that did not stop the data from being shown.
  var warnings: [ErrorView] { get }
}

extension OutputView {
  /// No remark.
  public var status: StatusLine? { nil }

  /// No warnings.
  public var warnings: [ErrorView] { [] }
}

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

  /// The text of `view` for stdout, ending in a line end; empty if there is nothing to write.
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

/// A remark for people about the output.
public struct StatusLine: Sendable, Hashable {
  /// The remark, on one line, safe for a terminal.
  public let text: String
  /// The style of the remark.
  public let style: TextStyle

  /// The remark made of `parts`, joined by middle dots.
  public init(_ parts: [String], style: TextStyle = .dim) {
    // `joined(separator:)` would make the runtime instantiate generic types for this one line of each fetch.
    var text = ""
    for part in parts { text += text.isEmpty ? part : " · \(part)" }
    self.text = TerminalText.line(text)
    self.style = style
  }

  /// The remark with its line end, broken between words if `screen` is narrower.
  public func line(on screen: Screen) -> String {
    guard let width = screen.width else { return style.apply(text, hasColor: screen.hasColor) + "\n" }
    return LineWrap.lines(text, width: width).map { style.apply($0, hasColor: screen.hasColor) + "\n" }.joined()
  }

  /// The remark cut to one line of `screen`, without a line end: for a line that is redrawn in place.
  public func cut(to screen: Screen) -> String {
    style.apply(DisplayWidth.truncated(text, to: screen.width ?? 80), hasColor: screen.hasColor)
  }
}
