internal import CachePresentation
internal import ResponseStorage

/// The result of compacting a store.
struct CompactionView: SingleRecordView {
  /// The name of the backend.
  let backend: String
  /// The extent of its store before and after.
  let report: CompactionReport
  /// The dictionaries that were trained first.
  var training: [TrainingReport] = []

  private var before: CompactionReport.Extent { report.before }
  private var after: CompactionReport.Extent { report.after }

  private var removed: Int { report.removed }
  /// Other processes may have written meanwhile, so the store may even have grown.
  private var freed: Int { max(0, before.storageBytes - after.storageBytes) }

  /// The document: "backend", "removed" and "freedBytes", then the figures before and after.
  var json: JSONValue {
    let members: [JSONValue.Member] = training.isEmpty ? [] : [.init("training", .array(training.map(Self.json)))]
    return .object(extents + members)
  }

  private var extents: [JSONValue.Member] {
    [
      .init("backend", .string(backend)), .init("removed", .integer(removed)), .init("freedBytes", .integer(freed)),
      .init("entriesBefore", .integer(before.entries)), .init("entriesAfter", .integer(after.entries)),
      .init("payloadBytesBefore", .integer(before.payloadBytes)),
      .init("payloadBytesAfter", .integer(after.payloadBytes)),
      .init("storageBytesBefore", .integer(before.storageBytes)),
      .init("storageBytesAfter", .integer(after.storageBytes)),
    ]
  }

  private static func json(_ report: TrainingReport) -> JSONValue {
    [
      "namespace": .string(report.namespace), "transform": .string(report.transform),
      "samples": .integer(report.samples), "dictionaryBytes": report.dictionaryBytes.map(JSONValue.integer) ?? .null,
      "sampleBytesBefore": .integer(report.bytesBefore), "sampleBytesAfter": .integer(report.bytesAfter),
      "rewritten": .integer(report.rewritten),
    ]
  }

  /// The figures before and after, below each other.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    let columns: [Table.Column] = [
      .init(""), .init("Entries", .right), .init("Payload", .right), .init("On disk", .right),
    ]
    return Table(columns, rows: [Self.row("Before", before), Self.row("After", after)])
      .text(on: screen, hasHeader: hasHeader) + (training.isEmpty ? "" : "\n" + trainingTable(on: screen, hasHeader))
  }

  /// The dictionaries by namespace, and what they save of an eighth of the samples.
  private func trainingTable(on screen: Screen, _ hasHeader: Bool) -> String {
    let columns: [Table.Column] = [
      .init("Namespace"), .init("Samples", .right), .init("Dictionary", .right), .init("Saves", .right),
      .init("Rewritten", .right),
    ]
    let rows = training.map { report -> [Table.Cell] in
      let saved = report.bytesBefore > 0 ? 100 - 100 * report.bytesAfter / report.bytesBefore : 0
      return [
        .init(report.namespace, .plain), .init(NumberText.text(report.samples), .plain),
        .init(report.dictionaryBytes.map(ByteCountText.text) ?? "none", .plain), .init("\(max(saved, 0)) %", .plain),
        .init(NumberText.text(report.rewritten), .plain),
      ]
    }
    return Table(columns, rows: rows).text(on: screen, hasHeader: hasHeader)
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
