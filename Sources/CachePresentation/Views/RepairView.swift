/// What came of repairing a store, or would come of it.
public struct RepairRow: Sendable, Hashable {
  /// Whether the store was left as it was, and the rest says what a repair would do.
  public let isDryRun: Bool
  /// The number of entries that were saved.
  public let saved: Int
  /// The entries that were lost, with their keys.
  public let lost: [IntegrityView.IssueRow]
  /// The places where entries may have been lost, and nothing tells which.
  public let mayHaveLost: [IntegrityView.IssueRow]
  /// What was wrong and cost no entry.
  public let mended: [IntegrityView.IssueRow]
  /// Where the damaged files are now.
  public let movedTo: [String]

  /// A repair with the given fields. An issue of `lost` without a key is a place where entries may have been lost.
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

  /// Whether it is known that no entry was lost.
  public var isComplete: Bool { lost.isEmpty && mayHaveLost.isEmpty }

  fileprivate var json: JSONValue {
    [
      "dryRun": .boolean(isDryRun), "saved": .integer(saved), "lost": .array(lost.map(\.record)),
      "mayHaveLost": .array(mayHaveLost.map(\.record)), "mended": .array(mended.map(\.record)),
      "movedTo": JSONValue(movedTo),
    ]
  }

  /// The number of entries that are known by their keys, and of places where it is not known what was there.
  fileprivate var lostText: String {
    let entries = NumberText.count(lost.count, "entry", "entries")
    if mayHaveLost.isEmpty { return entries }
    return "\(entries), and what was in \(NumberText.count(mayHaveLost.count, "damaged place", "damaged places"))"
  }
}

/// A store that was repaired, and checked again then; or the preview of that.
public struct RepairView: OutputView {
  private let repair: RepairRow
  private let result: IntegrityView

  /// The view of `repair`, after which a check found `result`; of a dry run, before which it did.
  public init(_ repair: RepairRow, result: IntegrityView) {
    self.repair = repair
    self.result = result
  }

  /// Whether something is wrong with the store, or it is not known that all entries were saved.
  public var isFailure: Bool { result.hasIssues || !repair.isComplete }

  /// The document of `verify`, with the member "repair".
  public var json: JSONValue {
    guard case .object(let members) = result.json else { return result.json }
    return .object(members + [.init("repair", repair.json)])
  }

  /// The names of the members of an issue, and what became of it.
  public var columns: [String] { result.columns + ["outcome"] }

  /// What was lost, what may have been, what was mended, and then what remains.
  public var records: [JSONValue] {
    repair.lost.map { Self.record($0.record, "lost") }
      + repair.mayHaveLost.map { Self.record($0.record, "mayHaveLost") }
      + repair.mended.map { Self.record($0.record, "mended") }
      + result.records.map { Self.record($0, "remains") }
  }

  /// What was saved, where the damaged files are, and then tables of what was lost, mended and remains.
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

  /// What the check after the repair found, and what the repair cost.
  public var status: StatusLine? {
    if repair.isDryRun { return StatusLine(["Dry run: nothing was changed"]) }
    return repair.isComplete ? result.status : result.status(noting: "lost \(repair.lostText)")
  }

  private static func record(_ record: JSONValue, _ outcome: String) -> JSONValue {
    guard case .object(let members) = record else { return record }
    return .object(members + [.init("outcome", .string(outcome))])
  }
}
