struct CompactCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact", abstract: "Remove expired entries, and free disk space",
    discussion: """
      Entries that have not expired are kept, even stale ones. If it fails, because the disk is full or another process holds \
      the store, no entry is lost that had not expired.
      """,
    examples: ["cachectl compact", "cachectl --backend lmdb compact"])

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    let session = try Session(global)
    let line = TransientLine(isVisible: global.showsProgress)
    line.show("Compacting \(session.configuration.backend)")
    defer { line.clear() }
    let report = try await session.withStore { store throws(CacheError) in try await store.administration.compact() }
    line.clear()
    try global.show(RecordView(report, backend: session.configuration.backend))
  }
}

extension RecordView {
  /// The result of compacting the store of `backend`: the removed entries and the freed bytes, then the figures before
  /// and after, `null` if they are not known.
  init(_ report: CompactionReport, backend: String) {
    let (before, after) = (report.before, report.after)
    var freed: Int?
    // Other processes might have written meanwhile, so the store might even have grown.
    if let before, let after { freed = max(0, before.storageBytes - after.storageBytes) }
    let entries = NumberText.count(report.removed, "expired entry", "expired entries")
    let space = freed.map { ", freed \(ByteCountText.text($0))" } ?? ""
    self.init(
      [
        Field("backend", .string(backend)), Field("removed", .integer(report.removed)),
        Field("freedBytes", JSONValue(freed)),
        Field("entriesBefore", JSONValue(before?.entries)), Field("entriesAfter", JSONValue(after?.entries)),
        Field("payloadBytesBefore", JSONValue(before?.payloadBytes)),
        Field("payloadBytesAfter", JSONValue(after?.payloadBytes)),
        Field("storageBytesBefore", JSONValue(before?.storageBytes)),
        Field("storageBytesAfter", JSONValue(after?.storageBytes)),
      ], status: StatusLine(["\(backend): removed \(entries)\(space)"], style: .green)
    ) { screen in
      guard let before, let after else { return "" }
      let columns: [Column<(name: String, count: StoreCount)>] = [
        Column(table: .init("")) { .init($0.name, .dim) },
        Column(table: .init("Entries", .right)) { .init(NumberText.text($0.count.entries)) },
        Column(table: .init("Payload", .right)) { .init(ByteCountText.text($0.count.payloadBytes)) },
        Column(table: .init("On disk", .right)) { .init(ByteCountText.text($0.count.storageBytes)) },
      ]
      return Table([("Before", before), ("After", after)], columns).text(on: screen)
    }
  }
}
