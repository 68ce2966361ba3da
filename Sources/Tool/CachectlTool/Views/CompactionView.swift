internal import CachePresentation
internal import ResponseStorage

/// The result of compacting a store.
struct CompactionView: SingleRecordView {
  /// The name of the backend.
  let backend: String
  /// The extent of its store before and after.
  let report: CompactionReport

  private var before: CompactionReport.Extent { report.before }
  private var after: CompactionReport.Extent { report.after }

  /// Other processes may have written meanwhile, so the store may even have grown.
  private var removed: Int { max(0, before.entries - after.entries) }
  private var freed: Int { max(0, before.storageBytes - after.storageBytes) }

  /// The document: "backend", "removed" and "freedBytes", then the figures before and after.
  var json: JSONValue {
    [
      "backend": .string(backend), "removed": .integer(removed), "freedBytes": .integer(freed),
      "entriesBefore": .integer(before.entries), "entriesAfter": .integer(after.entries),
      "payloadBytesBefore": .integer(before.payloadBytes), "payloadBytesAfter": .integer(after.payloadBytes),
      "storageBytesBefore": .integer(before.storageBytes), "storageBytesAfter": .integer(after.storageBytes),
    ]
  }

  /// The figures before and after, below each other.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    let columns: [Table.Column] = [
      .init(""), .init("Entries", .right), .init("Payload", .right), .init("On disk", .right),
    ]
    return Table(columns, rows: [Self.row("Before", before), Self.row("After", after)])
      .text(on: screen, hasHeader: hasHeader)
  }

  /// What was removed and freed.
  var status: StatusLine? {
    let entries = NumberText.count(removed, "expired entry", "expired entries")
    return StatusLine(["\(backend): removed \(entries), freed \(ByteCountText.text(freed))"], style: .green)
  }

  private static func row(_ name: String, _ extent: CompactionReport.Extent) -> [Table.Cell] {
    [
      .init(name, .dim), .init(NumberText.text(extent.entries), .plain),
      .init(ByteCountText.text(extent.payloadBytes), .plain), .init(ByteCountText.text(extent.storageBytes), .plain),
    ]
  }
}
