/// The entries of a store.
public struct EntriesView: OutputView {
  private let entries: [EntryRow]
  private let cursor: String?
  private let now: Duration

  /// The view of `entries` at the time `now` since 1970-01-01T00:00:00Z; the listing continues after `cursor` (`nil` at
  /// its end).
  public init(_ entries: [EntryRow], cursor: String?, now: Duration) {
    self.entries = entries
    self.cursor = cursor
    self.now = now
  }

  /// The document `{"entries": [...], "cursor": null}`.
  public var json: JSONValue { ["entries": .array(records), "cursor": JSONValue(cursor)] }

  /// The names of the members of an entry.
  public var columns: [String] {
    ["key", "namespace", "bytes", "storedAt", "freshUntil", "retainUntil", "state", "contentType"]
  }

  /// The entries.
  public var records: [JSONValue] { entries.map { .object($0.members) } }

  /// The entries, with what decides whether they can answer. The other formats and `show` have the rest. On a terminal
  /// of known width keys are cut in the middle, elsewhere they are whole.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    var widths: [Int] = []
    return table(on: screen, hasHeader: hasHeader, below: &widths)
  }

  /// On a narrower screen an entry takes two lines: the other columns would leave no space for its key.
  private static let narrowest = 60
  /// On a narrower screen there is no space for the time of storing.
  private static let narrow = 76

  /// The entries below other pages of the same listing.
  func table(on screen: Screen, hasHeader: Bool, below widths: inout [Int]) -> String {
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
      let key = DisplayWidth.truncatedInMiddle(TerminalText.line(entry.key), to: width)
      let facts = [[Table.Cell(""), .init(ByteCountText.text(entry.bytes), .plain)] + row(entry)[2...3]]
      let table = Table([.init(""), .init("", .right), .init(""), .init("")], rows: facts)
      var widths = [0, Self.widestSize, Self.widestState, 0]
      return key + "\n" + table.text(on: screen, hasHeader: false, below: &widths)
    }.joined()
  }

  private static let widestSize = "1023.9 KiB".count
  private static let widestState = EntryRow.State.allCases.map(\.rawValue.count).max() ?? 0

  /// How many entries are shown, their size, and how to see more.
  public var status: StatusLine? {
    Self.status(count: entries.count, bytes: entries.reduce(0) { $0 + $1.bytes }, cursor: cursor)
  }

  static func status(count: Int, bytes: Int, cursor: String?) -> StatusLine {
    guard count > 0 else { return StatusLine(["No entries"]) }
    let parts = [NumberText.count(count, "entry", "entries"), ByteCountText.text(bytes)]
    return StatusLine(parts + (cursor.map { ["more with --cursor \($0)"] } ?? []))
  }

  private func row(_ entry: EntryRow) -> [Table.Cell] {
    [
      .init(entry.key, .plain), .init(ByteCountText.text(entry.bytes), .plain),
      .init(entry.state.rawValue, entry.state.style), .init(RelativeTimeText.past(entry.storedAt, now: now), .plain),
      .init(RelativeTimeText.text(entry.freshUntil, now: now), .plain),
    ]
  }
}
