/// The text of a listing of any length, made page by page: only one page is in memory.
///
/// The pages and the end together are the text of an `EntriesView` of all the entries, except that the columns of a
/// table are only as wide as the pages so far require.
public struct EntriesStream: Sendable {
  private let renderer: OutputRenderer
  private var count = 0
  private var bytes = 0
  private var cursor: String?
  private var hasBegun = false
  private var widths: [Int] = []

  /// A listing in `format` on `screen`.
  public init(_ format: OutputFormat, on screen: Screen) {
    renderer = OutputRenderer(format, on: screen)
  }

  /// The text of the next entries, at the time `now` since 1970-01-01T00:00:00Z.
  public mutating func text(_ page: [EntryRow], now: Duration) -> String {
    let view = EntriesView(page, cursor: nil, now: now)
    let isFirst = !hasBegun
    hasBegun = true
    count += page.count
    bytes += page.reduce(0) { $0 + $1.bytes }
    return switch renderer.format {
    case .table: view.table(on: renderer.screen, hasHeader: isFirst, below: &widths)
    case .json: document(view.records, isFirst: isFirst)
    case .ndjson, .csv: renderer.text(view, hasHeader: isFirst)
    }
  }

  /// The text after the last page; the listing continues after `cursor` (`nil` at its end).
  public mutating func end(cursor: String?) -> String {
    self.cursor = cursor
    let start = hasBegun ? "" : text([], now: .zero)
    guard renderer.format == .json else { return start }
    return start + "],\"cursor\":\(JSONText.text(JSONValue(cursor)))}\n"
  }

  /// How many entries were shown, their size, and how to see more.
  public var status: StatusLine { EntriesView.status(count: count, bytes: bytes, cursor: cursor) }

  private func document(_ records: [JSONValue], isFirst: Bool) -> String {
    var text: [UInt8] = Array((isFirst ? "{\"entries\":[" : "").utf8)
    for (index, record) in records.enumerated() {
      if index > 0 || !isFirst { text.append(UInt8(ascii: ",")) }
      JSONText.append(record, to: &text)
    }
    return String(decoding: text, as: UTF8.self)
  }
}
