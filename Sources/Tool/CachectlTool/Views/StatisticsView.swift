internal import FetchVocabulary
internal import CachePresentation
internal import CacheCore
internal import EngineAPI

/// How much a store contains, and how often it answers.
struct StatisticsView: SingleRecordView {
  private let backend: String
  private let path: String?
  private let address: String?
  private let report: StoreReport

  /// The view of `report` about the store called `backend` at `path`, or on the server at `address` (`nil` if it has
  /// none).
  init(backend: String, path: String?, address: String? = nil, _ report: StoreReport) {
    self.backend = backend
    self.path = path
    self.address = address
    self.report = report
  }

  private var namespaces: [(name: String, count: EntryCount)] {
    (report.count?.namespaces ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The number of entries and their size, such as "12 entries, 1.4 MiB"; `nil` if they were not counted.
  var summary: String? {
    report.count.map { count in
      "\(NumberText.count(count.entries, "entry", "entries")), \(ByteCountText.text(count.payloadBytes))"
    }
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
      "name": .string(tier.name), "entries": JSONValue(tier.count?.withoutLeases.entries),
      "payloadBytes": JSONValue(tier.count?.withoutLeases.payloadBytes),
      "storageBytes": JSONValue(tier.count?.storageBytes), "failure": JSONValue(tier.failure?.message),
    ]
  }

  private var document: JSONValue {
    [
      "backend": .string(backend), "path": JSONValue(path), "address": JSONValue(address),
      "entries": JSONValue(report.entries), "payloadBytes": JSONValue(report.payloadBytes),
      "storageBytes": JSONValue(report.storageBytes),
      "fresh": JSONValue(report.count(.fresh)), "stale": JSONValue(report.count(.stale)),
      "expired": JSONValue(report.count(.expired)),
      "hits": .integer(report.operations.hits), "misses": .integer(report.operations.misses),
      "evictions": JSONValue(report.evictions),
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
    let states = EntryState.allCases.compactMap { state in
      report.count(state).map { "\(NumberText.text($0)) \(state.rawValue)" }
    }
    let entryText = report.entries.map(NumberText.text) ?? "more than \(NumberText.text(StoreReport.scannedEntries))"
    let stateText = states.isEmpty ? "states are counted with --states" : states.joined(separator: ", ")
    let place: (name: String, value: Table.Cell) =
      address.map { ("Address", .init($0, .plain)) } ?? ("Path", .init(path))
    let figures = Details.wrappedText(
      [
        ("Backend", .init(backend, .bold)), place, ("Entries", "\(entryText) (\(stateText))"),
        ("Payload", report.payloadBytes.map(Details.bytes) ?? .init(nil)),
        ("On disk", report.storageBytes.map(Details.bytes) ?? .init(nil)),
        ("Hits", .init(hitText, .plain)), ("Evictions", .init(report.evictions.map { NumberText.text($0) })),
      ] + report.tiers.map { ($0.name.prefix(1).uppercased() + $0.name.dropFirst(), .init(Self.text($0), .plain)) },
      on: screen)
    return namespaces.isEmpty ? figures : figures + "\n" + namespaceTable.text(on: screen)
  }

  private static func text(_ tier: TierReport) -> String {
    let entries = tier.count.map { NumberText.count($0.withoutLeases.entries, "entry", "entries") }
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
