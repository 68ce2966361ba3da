struct StatsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats", abstract: "Show the size of the store, and its hits, misses and evictions",
    discussion: "Sizes are of payloads and on disk. Hits and misses are counted by `fetch`, in every process.",
    examples: ["cachectl stats", "cachectl stats --states --output json"])

  @Flag(help: "Count fresh, stale and expired entries even if there are more than 100,000")
  var states = false

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    let session = try Session(global)
    let report = try await session.withStore { store throws(CacheError) in
      try await store.administration.statistics(countingStates: states ? true : nil)
    }
    let configuration = session.configuration
    try global.show(
      RecordView(
        report, backend: configuration.backend, path: configuration.storePath, address: configuration.storeAddress))
  }
}

extension RecordView {
  /// How much the store called `backend` at `path`, or on the server at `address`, contains, and its hits.
  init(_ report: StoreReport, backend: String, path: String?, address: String? = nil) {
    let place = address.map { Field(line: "Address", .init($0)) } ?? Field(line: "Path", .init(path))
    let states = EntryState.allCases.compactMap { state in
      report.count(state).map { "\(NumberText.text($0)) \(state.rawValue)" }
    }
    let entries = report.entries.map(NumberText.text) ?? "more than \(NumberText.text(StoreReport.scannedEntries))"
    let stateText = states.isEmpty ? "states are counted with --states" : states.joined(separator: ", ")
    let (hits, misses) = (report.operations.hits, report.operations.misses)
    let namespaces = ListView(
      (report.count?.namespaces ?? [:]).sorted { $0.key < $1.key },
      [
        Column("name", .init("Namespace", isShrinkable: true)) { .string($0.key) },
        Column("entries", .init("Entries", .right)) { .integer($0.value.entries) },
        Column("payloadBytes", .init("Payload", .right), cell: { .init(ByteCountText.text($0.value.payloadBytes)) }) {
          .integer($0.value.payloadBytes)
        },
      ])
    let tiers = report.tiers.map { Field(line: $0.name.prefix(1).uppercased() + $0.name.dropFirst(), .init($0.text)) }
    self.init(
      [
        Field("backend", .string(backend), "Backend", .init(backend, .bold)), place, Field("path", JSONValue(path)),
        Field("address", JSONValue(address)),
        Field("entries", JSONValue(report.entries), "Entries", "\(entries) (\(stateText))"),
        Field("payloadBytes", JSONValue(report.payloadBytes), "Payload", report.payloadBytes.map { .init(bytes: $0) }),
        Field("storageBytes", JSONValue(report.storageBytes), "On disk", report.storageBytes.map { .init(bytes: $0) }),
        Field("fresh", JSONValue(report.count(.fresh))), Field("stale", JSONValue(report.count(.stale))),
        Field("expired", JSONValue(report.count(.expired))),
        Field("hits", .integer(hits), "Hits", .init(Self.share(hits, of: hits + misses))),
        Field("misses", .integer(misses)), Field("evictions", JSONValue(report.evictions), "Evictions"),
        Field("namespaces", namespaces.json),
      ] + (tiers.isEmpty ? [] : [Field("tiers", .array(report.tiers.map(\.document)))] + tiers), layout: .wrapped
    ) { screen in
      let table = namespaces.table(on: screen, hasHeader: true)
      return table.isEmpty ? "" : "\n" + table
    }
  }

  private static func share(_ part: Int, of all: Int) -> String {
    let text = "\(NumberText.text(part)) of \(NumberText.text(all))"
    return all > 0 ? "\(text) (\(NumberText.decimal(100 * Double(part) / Double(all), places: 1))%)" : text
  }
}

extension TierReport {
  fileprivate var document: JSONValue {
    [
      "name": .string(name), "entries": JSONValue(count?.withoutLeases.entries),
      "payloadBytes": JSONValue(count?.withoutLeases.payloadBytes), "storageBytes": JSONValue(count?.storageBytes),
      "failure": JSONValue(failure?.message),
    ]
  }

  fileprivate var text: String {
    let entries = count.map { NumberText.count($0.withoutLeases.entries, "entry", "entries") }
    return [entries, failure?.message].compactMap(\.self).joined(separator: "; ")
  }
}
