internal import FetchVocabulary
internal import CachePresentation
internal import ResponseStorage
internal import StorageSPI

/// How much a store contains, and how often it answers.
struct StatisticsView: SingleRecordView {
  private let backend: String
  private let path: String?
  private let address: String?
  private let report: StoreReport

  /// The view of `report` about the store called `backend` at `path`, or on the server at `address` (`nil` if it has
  /// none).
  init(backend: String, path: String?, address: String? = nil, _ report: StoreReport) {
    (self.backend, self.path, self.address, self.report) = (backend, path, address, report)
  }

  private var total: EntryTally.Count { report.tally.total() }
  private var namespaces: [(name: String, count: EntryTally.Count)] {
    report.tally.namespaces.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The number of entries and their size, such as "12 entries, 1.4 MiB".
  var summary: String {
    "\(NumberText.count(total.entries, "entry", "entries")), \(ByteCountText.text(total.payloadBytes))"
  }

  /// The document of `stats`, with "tiers" for a store that has some.
  var json: JSONValue {
    guard !report.tiers.isEmpty, case .object(let members) = document,
      case .object(let further) = ["tiers": .array(report.tiers.map(Self.document))] as JSONValue
    else { return document }
    return .object(members + further)
  }

  private static func document(_ tier: TierReport) -> JSONValue {
    [
      "name": .string(tier.name), "entries": JSONValue(tier.statistics?.tally.withoutLeases.total().entries),
      "payloadBytes": JSONValue(tier.statistics?.tally.withoutLeases.total().payloadBytes),
      "storageBytes": JSONValue(tier.statistics?.storageBytes), "failure": JSONValue(tier.failure?.message),
    ]
  }

  private var document: JSONValue {
    [
      "backend": .string(backend), "path": JSONValue(path), "address": JSONValue(address),
      "entries": .integer(total.entries),
      "payloadBytes": .integer(total.payloadBytes), "storageBytes": .integer(report.storageBytes),
      "fresh": .integer(report.count(.fresh)), "stale": .integer(report.count(.stale)),
      "expired": .integer(report.count(.expired)), "estimated": .boolean(report.isEstimated),
      "hits": .integer(report.operations.hits), "misses": .integer(report.operations.misses),
      "evictions": .integer(report.operations.evictions),
      "namespaces": .array(
        namespaces.map { name, count in
          [
            "name": .string(name), "entries": .integer(count.entries),
            "payloadBytes": .integer(count.payloadBytes),
          ]
        }),
    ]
  }

  /// The figures, one per line, then a table of the namespaces.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    let states = EntryState.allCases.map { "\(NumberText.text(report.count($0))) \($0.rawValue)" }
    let stateText = (report.isEstimated ? "about " : "") + states.joined(separator: ", ")
    let place: (name: String, value: Table.Cell) =
      address.map { ("Address", .init($0, .plain)) } ?? ("Path", .init(path))
    let figures = Details.wrappedText(
      [
        ("Backend", .init(backend, .bold)), place, ("Entries", "\(NumberText.text(total.entries)) (\(stateText))"),
        ("Payload", Details.bytes(total.payloadBytes)),
        ("On disk", Details.bytes(report.storageBytes)),
        ("Hits", .init(hitText, .plain)), ("Evictions", .init(NumberText.text(report.operations.evictions), .plain)),
      ] + report.tiers.map { ($0.name.prefix(1).uppercased() + $0.name.dropFirst(), .init(Self.text($0), .plain)) },
      on: screen)
    return namespaces.isEmpty ? figures : figures + "\n" + namespaceTable.text(on: screen)
  }

  private static func text(_ tier: TierReport) -> String {
    let entries = tier.statistics.map { NumberText.count($0.tally.withoutLeases.total().entries, "entry", "entries") }
    return [entries, tier.failure?.message].compactMap(\.self).joined(separator: "; ")
  }

  private var hitText: String {
    let (hits, answers) = (report.operations.hits, report.operations.hits + report.operations.misses)
    let text = "\(NumberText.text(hits)) of \(NumberText.text(answers))"
    return answers > 0 ? "\(text) (\(NumberText.decimal(100 * Double(hits) / Double(answers), places: 1))%)" : text
  }

  private var namespaceTable: Table {
    let rows = namespaces.map { name, count in
      [
        Table.Cell(name, .plain), Table.Cell(NumberText.text(count.entries), .plain),
        Table.Cell(ByteCountText.text(count.payloadBytes), .plain),
      ]
    }
    return Table(
      [.init("Namespace", isShrinkable: true), .init("Entries", .right), .init("Payload", .right)], rows: rows)
  }
}
