/// The result of repairing a store, or of the dry run.
public struct RepairRow: Sendable, Hashable {
  /// Whether the store is unchanged, and the rest says what a repair would do.
  public let isDryRun: Bool
  /// The number of entries saved.
  public let saved: Int
  /// The entries lost, with their keys.
  public let lost: [IntegrityView.IssueRow]
  /// The places where unknown entries may have been lost.
  public let mayHaveLost: [IntegrityView.IssueRow]
  /// The damage that cost no entry.
  public let mended: [IntegrityView.IssueRow]
  /// Where the damaged files are now.
  public let movedTo: [String]

  /// The result of a repair. An issue of `lost` without a key is a place where entries may have been lost.
  public init(
    isDryRun: Bool = false, saved: Int, lost: [IntegrityView.IssueRow], mended: [IntegrityView.IssueRow] = [],
    movedTo: [String]
  ) {
    self.isDryRun = isDryRun
    self.saved = saved
    self.lost = lost.filter { $0.key != nil }
    self.mayHaveLost = lost.filter { $0.key == nil }
    self.mended = mended
    self.movedTo = movedTo
  }

  /// Whether certainly no entry was lost.
  public var isComplete: Bool { lost.isEmpty && mayHaveLost.isEmpty }

  fileprivate var json: JSONValue {
    [
      "dryRun": .boolean(isDryRun), "saved": .integer(saved), "lost": .array(lost.map(\.record)),
      "mayHaveLost": .array(mayHaveLost.map(\.record)), "mended": .array(mended.map(\.record)),
      "movedTo": JSONValue(movedTo),
    ]
  }

  /// The number of lost entries with known keys, and of places whose entries are unknown.
  fileprivate var lostText: String {
    let entries = NumberText.count(lost.count, "entry", "entries")
    if mayHaveLost.isEmpty { return entries }
    return "\(entries), and what was in \(NumberText.count(mayHaveLost.count, "damaged place", "damaged places"))"
  }
}

/// The repair of a store and the check after it, or its dry run.
public struct RepairView: OutputView {
  private let repair: RepairRow
  private let result: IntegrityView

  /// The view of `repair` and of the check `result`, made after the repair, or before a dry run.
  public init(_ repair: RepairRow, result: IntegrityView) {
    self.repair = repair
    self.result = result
  }

  /// Whether the store still has issues, or entries may have been lost.
  public var isFailure: Bool { result.hasIssues || !repair.isComplete }

  /// The document of `verify`, with the member "repair".
  public var json: JSONValue {
    guard case .object(let members) = result.json else { return result.json }
    return .object(members + [.init("repair", repair.json)])
  }

  /// The names of the members of an issue, and its outcome.
  public var columns: [String] { result.columns + ["outcome"] }

  /// What was lost, what may be lost, what was mended, then what remains.
  public var records: [JSONValue] {
    repair.lost.map { Self.record($0.record, "lost") }
      + repair.mayHaveLost.map { Self.record($0.record, "mayHaveLost") }
      + repair.mended.map { Self.record($0.record, "mended") }
      + result.records.map { Self.record($0, "remains") }
  }

  /// What was saved, and where the damaged files are, then tables of what was lost, was mended and remains.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let (saved, lost) = repair.isDryRun ? ("Would save", "Would lose") : ("Saved", "Lost")
    let files = repair.movedTo.map { (name: "Damaged file", value: Table.Cell($0, .plain)) }
    let figures: [(name: String, value: Table.Cell)] = [
      (saved, .init(NumberText.count(repair.saved, "entry", "entries"), .green)),
      (lost, .init(repair.lostText, repair.isComplete ? .green : .red)),
    ]
    let tables = [
      IntegrityView.table(repair.lost + repair.mayHaveLost, title: lost, on: screen),
      IntegrityView.table(repair.mended, title: repair.isDryRun ? "Would mend" : "Mended", on: screen),
      result.table(on: screen, hasHeader: true),
    ]
    return ([Details.text(figures + files, on: screen)] + tables.filter { !$0.isEmpty }).joined(separator: "\n")
  }

  /// The result of the check after the repair, and the losses of the repair.
  public var status: StatusLine? {
    if repair.isDryRun { return StatusLine(["Dry run: nothing was changed"]) }
    return repair.isComplete ? result.status : result.status(noting: "lost \(repair.lostText)")
  }

  private static func record(_ record: JSONValue, _ outcome: String) -> JSONValue {
    guard case .object(let members) = record else { return record }
    return .object(members + [.init("outcome", .string(outcome))])
  }
}
