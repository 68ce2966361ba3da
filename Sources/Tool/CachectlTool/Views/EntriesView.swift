internal import CachePresentation
internal import EngineAPI

/// The entries of a store.
struct EntriesView: OutputView {
  private let entries: [ScannedEntry]
  private let cursor: String?
  private let now: Timestamp

  /// The view of `entries`, which were read at `now`; the listing continues after `cursor` (`nil` at its end).
  init(_ entries: [ScannedEntry], cursor: String?, now: Timestamp) {
    self.entries = entries
    self.cursor = cursor
    self.now = now
  }

  /// The document `{"entries": [...], "cursor": null}`.
  var json: JSONValue { ["entries": .array(records), "cursor": JSONValue(cursor)] }

  var columns: [String] {
    ["key", "namespace", "bytes", "storedAt", "freshUntil", "retainUntil", "state", "contentType"]
  }

  var records: [JSONValue] { entries.map { .object($0.members(at: now)) } }

  /// The entries, with what decides whether they can answer. The other formats and `show` have the rest. On a terminal
  /// of known width keys are cut in the middle, elsewhere they are whole.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    var widths: [Int] = []
    return table(on: screen, hasHeader: hasHeader, below: &widths)
  }

  /// On a narrower screen an entry takes two lines: the other columns would leave no space for its key.
  private static let narrowest = 60
  /// On a narrower screen there is no space for the time of storing.
  private static let narrow = 76

  /// The entries below other pages of the same listing.
  fileprivate func table(on screen: Screen, hasHeader: Bool, below widths: inout [Int]) -> String {
    if let width = screen.width, width < Self.narrowest { return stacked(on: screen, width) }
    let isNarrow = screen.width.map { $0 < Self.narrow } ?? false
    var columns: [Table.Column] = [
      .init("Key", isShrinkable: true, isCutInMiddle: true), .init("Size", .right), .init("State"), .init("Stored"),
      .init("Fresh until"),
    ]
    var rows = entries.map(row)
    if isNarrow {
      columns.remove(at: 3)
      for index in rows.indices { rows[index].remove(at: 3) }
    }
    let table = Table(columns, rows: rows)
    guard screen.isTerminal else { return table.tabbedText(hasHeader: hasHeader) }
    return table.text(on: screen, hasHeader: hasHeader, below: &widths)
  }

  /// The key on one line, and the facts about the entry below it.
  private func stacked(on screen: Screen, _ width: Int) -> String {
    entries.map { entry in
      let key = DisplayWidth.truncatedInMiddle(TerminalText.line(entry.key.text), to: width)
      let facts = [[Table.Cell("")] + row(entry)[1...3]]
      let table = Table([.init(""), .init("", .right), .init(""), .init("")], rows: facts)
      var widths = [0, Self.widestSize, Self.widestState, 0]
      return key + "\n" + table.text(on: screen, hasHeader: false, below: &widths)
    }.joined()
  }

  private static let widestSize = "1023.9 KiB".count
  private static let widestState = EntryState.allCases.map(\.rawValue.count).max() ?? 0

  /// How many entries are shown, their size, and how to see more.
  var status: StatusLine? {
    Self.status(count: entries.count, bytes: entries.reduce(0) { $0 + $1.payloadBytes }, cursor: cursor)
  }

  fileprivate static func status(count: Int, bytes: Int, cursor: String?) -> StatusLine {
    guard count > 0 else { return StatusLine(["No entries"]) }
    let parts = [NumberText.count(count, "entry", "entries"), ByteCountText.text(bytes)]
    return StatusLine(parts + (cursor.map { ["more with --cursor \($0)"] } ?? []))
  }

  private func row(_ entry: ScannedEntry) -> [Table.Cell] {
    let (metadata, time) = (entry.metadata, now.sinceEpoch)
    return [
      .init(entry.key.text, .plain), .init(ByteCountText.text(entry.payloadBytes), .plain),
      metadata.state(at: now).cell, .init(RelativeTimeText.past(metadata.storedAt.sinceEpoch, now: time), .plain),
      .init(RelativeTimeText.text(metadata.freshUntil.sinceEpoch, now: time), .plain),
    ]
  }
}

/// The text of a listing of any length, made page by page: only one page is in memory.
///
/// The pages and the end together are the text of an `EntriesView` of all the entries, except that the columns of a
/// table are only as wide as the pages so far require.
struct EntriesStream: Sendable {
  private let renderer: OutputRenderer
  private var count = 0
  private var bytes = 0
  private var cursor: String?
  private(set) var hasBegun = false
  private var widths: [Int] = []

  /// A listing in `format` on `screen`.
  init(_ format: OutputFormat, on screen: Screen) {
    renderer = OutputRenderer(format, on: screen)
  }

  /// The text of the next entries, which were read at `now`.
  mutating func text(_ page: [ScannedEntry], now: Timestamp) -> String {
    let view = EntriesView(page, cursor: nil, now: now)
    let isFirst = !hasBegun
    hasBegun = true
    count += page.count
    bytes += page.reduce(0) { $0 + $1.payloadBytes }
    return switch renderer.format {
    case .table: view.table(on: renderer.screen, hasHeader: isFirst, below: &widths)
    case .json: document(view.records, isFirst: isFirst)
    case .ndjson, .csv: renderer.text(view, hasHeader: isFirst)
    }
  }

  /// The text after the last page; the listing continues after `cursor` (`nil` at its end).
  mutating func end(cursor: String?) -> String {
    self.cursor = cursor
    let start = hasBegun ? "" : text([], now: Timestamp(milliseconds: 0))
    guard renderer.format == .json else { return start }
    return start + "],\"cursor\":\(JSONText.text(JSONValue(cursor)))}\n"
  }

  /// How many entries were shown, their size, and how to see more.
  var status: StatusLine { EntriesView.status(count: count, bytes: bytes, cursor: cursor) }

  private func document(_ records: [JSONValue], isFirst: Bool) -> String {
    var text: [UInt8] = Array((isFirst ? "{\"entries\":[" : "").utf8)
    for (index, record) in records.enumerated() {
      if index > 0 || !isFirst { text.append(UInt8(ascii: ",")) }
      JSONText.append(record, to: &text)
    }
    return String(decoding: text, as: UTF8.self)
  }
}

extension ScannedEntry {
  /// The members of the entry's document at `now`, in order.
  func members(at now: Timestamp) -> [JSONValue.Member] {
    [
      .init("key", .string(key.text)), .init("namespace", .string(key.namespace)),
      .init("bytes", .integer(payloadBytes)), .init("storedAt", JSONValue(time: metadata.storedAt.sinceEpoch)),
      .init("freshUntil", JSONValue(time: metadata.freshUntil.sinceEpoch)),
      .init("retainUntil", JSONValue(time: metadata.retainUntil.sinceEpoch)),
      .init("state", .string(metadata.state(at: now).rawValue)), .init("contentType", .string(metadata.contentType)),
    ]
  }
}

extension EntryState {
  /// The state for people, in its color.
  var cell: Table.Cell {
    switch self {
    case .fresh: .init(rawValue, .green)
    case .stale: .init(rawValue, .yellow)
    case .expired: .init(rawValue, .red)
    }
  }
}
