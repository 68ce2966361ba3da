/// The result of compacting a store.
public struct CompactionView: SingleRecordView {
  /// The amount of data in a store.
  public struct Extent: Sendable, Hashable {
    /// The number of entries.
    public let entries: Int
    /// The sum of the sizes of their payloads, in bytes.
    public let payloadBytes: Int
    /// The space that the store takes on its medium, in bytes.
    public let storageBytes: Int

    /// The amount of data in a store at one moment.
    public init(entries: Int, payloadBytes: Int, storageBytes: Int) {
      self.entries = entries
      self.payloadBytes = payloadBytes
      self.storageBytes = storageBytes
    }
  }

  private let backend: String
  private let before: Extent
  private let after: Extent

  /// The view of compacting the store called `backend`, with its extent before and after.
  public init(backend: String, before: Extent, after: Extent) {
    self.backend = backend
    self.before = before
    self.after = after
  }

  /// Other processes may have written meanwhile, so the store may even have grown.
  private var removed: Int { max(0, before.entries - after.entries) }
  private var freed: Int { max(0, before.storageBytes - after.storageBytes) }

  /// The document: "backend", "removed" and "freedBytes", then the figures before and after.
  public var json: JSONValue {
    [
      "backend": .string(backend), "removed": .integer(removed), "freedBytes": .integer(freed),
      "entriesBefore": .integer(before.entries), "entriesAfter": .integer(after.entries),
      "payloadBytesBefore": .integer(before.payloadBytes), "payloadBytesAfter": .integer(after.payloadBytes),
      "storageBytesBefore": .integer(before.storageBytes), "storageBytesAfter": .integer(after.storageBytes),
    ]
  }

  /// The figures before and after, below each other.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let columns: [Table.Column] = [
      .init(""), .init("Entries", .right), .init("Payload", .right), .init("On disk", .right),
    ]
    return Table(columns, rows: [Self.row("Before", before), Self.row("After", after)])
      .text(on: screen, hasHeader: hasHeader)
  }

  /// What was removed and freed.
  public var status: StatusLine? {
    let entries = NumberText.count(removed, "expired entry", "expired entries")
    return StatusLine(["\(backend): removed \(entries), freed \(ByteCountText.text(freed))"], style: .green)
  }

  private static func row(_ name: String, _ extent: Extent) -> [Table.Cell] {
    [
      .init(name, .dim), .init(NumberText.text(extent.entries), .plain),
      .init(ByteCountText.text(extent.payloadBytes), .plain), .init(ByteCountText.text(extent.storageBytes), .plain),
    ]
  }
}
