/// What came of repairing a store.
public struct RepairRow: Sendable, Hashable {
  /// The number of entries that were saved.
  public let saved: Int
  /// What was lost: with a key where it is known which entry.
  public let lost: [IntegrityView.IssueRow]
  /// Where the damaged files are now.
  public let movedTo: [String]

  /// A repair with the given fields.
  public init(saved: Int, lost: [IntegrityView.IssueRow], movedTo: [String]) {
    self.saved = saved
    self.lost = lost
    self.movedTo = movedTo
  }
}

/// A store that was repaired, and checked again then.
public struct RepairView: OutputView {
  private let repair: RepairRow
  private let result: IntegrityView

  /// The view of `repair`, after which a check found `result`.
  public init(_ repair: RepairRow, result: IntegrityView) {
    self.repair = repair
    self.result = result
  }

  /// The document of `verify`, with the member "repair".
  public var json: JSONValue {
    guard case .object(let members) = result.json else { return result.json }
    let repair: JSONValue = [
      "saved": .integer(repair.saved), "lost": .array(repair.lost.map(\.record)), "movedTo": JSONValue(repair.movedTo),
    ]
    return .object(members + [.init("repair", repair)])
  }

  /// The names of the members of an issue, and whether it is the reason for a loss or remains.
  public var columns: [String] { result.columns + ["outcome"] }

  /// What was lost, then what remains.
  public var records: [JSONValue] {
    repair.lost.map { Self.record($0.record, "lost") } + result.records.map { Self.record($0, "remains") }
  }

  /// What was saved, where the damaged files are, and then a table of what was lost and one of what remains.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let files = repair.movedTo.map { (name: "Damaged file", value: Table.Cell($0, .plain)) }
    let figures: [(name: String, value: Table.Cell)] = [
      ("Saved", .init(NumberText.count(repair.saved, "entry", "entries"), .green)),
      ("Lost", .init(lostText, repair.lost.isEmpty ? .green : .red)),
    ]
    let tables = [
      IntegrityView.table(repair.lost, title: "Lost", on: screen), result.table(on: screen, hasHeader: true),
    ]
    return ([Details.text(figures + files, on: screen)] + tables.filter { !$0.isEmpty }).joined(separator: "\n")
  }

  /// What the check after the repair found.
  public var status: StatusLine? { result.status }

  /// The number of entries that are known by their keys, and of places where it is not known what was there.
  private var lostText: String {
    let known = repair.lost.count { $0.key != nil }
    let unknown = repair.lost.count - known
    let entries = NumberText.count(known, "entry", "entries")
    if unknown == 0 { return entries }
    return "\(entries), and what was in \(NumberText.count(unknown, "damaged place", "damaged places"))"
  }

  private static func record(_ record: JSONValue, _ outcome: String) -> JSONValue {
    guard case .object(let members) = record else { return record }
    return .object(members + [.init("outcome", .string(outcome))])
  }
}
