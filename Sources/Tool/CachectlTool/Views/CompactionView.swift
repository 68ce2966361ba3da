internal import CachePresentation
internal import CacheCore
internal import EngineAPI

/// The result of compacting a store.
struct CompactionView: SingleRecordView {
  /// The name of the backend.
  let backend: String
  /// The extent of its store before and after.
  let report: CompactionReport

  private var before: StoreCount? { report.before }
  private var after: StoreCount? { report.after }

  private var removed: Int { report.removed }
  /// Other processes may have written meanwhile, so the store may even have grown.
  private var freed: Int? {
    if let before, let after { max(0, before.storageBytes - after.storageBytes) } else { nil }
  }

  /// The document: "backend", "removed" and "freedBytes", then the figures before and after, `null` if they are not known.
  var json: JSONValue {
    .object([
      .init("backend", .string(backend)), .init("removed", .integer(removed)), .init("freedBytes", JSONValue(freed)),
      .init("entriesBefore", JSONValue(before?.entries)), .init("entriesAfter", JSONValue(after?.entries)),
      .init("payloadBytesBefore", JSONValue(before?.payloadBytes)),
      .init("payloadBytesAfter", JSONValue(after?.payloadBytes)),
      .init("storageBytesBefore", JSONValue(before?.storageBytes)),
      .init("storageBytesAfter", JSONValue(after?.storageBytes)),
    ])
  }

  /// The figures before and after, below each other; empty if they are not known.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    guard let before, let after else { return "" }
    let columns: [Table.Column] = [
      .init(""), .init("Entries", .right), .init("Payload", .right), .init("On disk", .right),
    ]
    return Table(columns, rows: [Self.row("Before", before), Self.row("After", after)])
      .text(on: screen, hasHeader: hasHeader)
  }

  /// What was removed and freed.
  var status: StatusLine? {
    let entries = NumberText.count(removed, "expired entry", "expired entries")
    let freed = freed.map { ", freed \(ByteCountText.text($0))" } ?? ""
    return StatusLine(["\(backend): removed \(entries)\(freed)"], style: .green)
  }

  private static func row(_ name: String, _ count: StoreCount) -> [Table.Cell] {
    [
      .init(name, .dim), .init(NumberText.text(count.entries), .plain),
      .init(ByteCountText.text(count.payloadBytes), .plain), .init(ByteCountText.text(count.storageBytes), .plain),
    ]
  }
}
