/// What a store holds.
public struct EntriesView: OutputView {
  private let entries: [EntryRow]
  private let cursor: String?
  private let now: Duration

  /// The view of `entries` at the time `now` since 1970-01-01T00:00:00Z; `cursor` is where the listing goes on (`nil`
  /// at its end).
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

  /// The entries, with what decides whether they answer. What is left out here stands in the other formats and in
  /// `show`: keys are what people copy, and want their room.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    var widths: [Int] = []
    return table(on: screen, hasHeader: hasHeader, below: &widths)
  }

  /// The same below other pages of one listing.
  func table(on screen: Screen, hasHeader: Bool, below widths: inout [Int]) -> String {
    let columns: [Table.Column] = [
      .init("Key", isShrinkable: true), .init("Size", .right), .init("State"), .init("Stored"),
      .init("Fresh until"),
    ]
    return Table(columns, rows: entries.map(row)).text(on: screen, hasHeader: hasHeader, below: &widths)
  }

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
