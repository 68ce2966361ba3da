internal import CachePresentation
internal import ResponseStorage
internal import StorageSPI

/// The findings of a check of a store.
struct IntegrityView: OutputView {
  private let backend: String
  private let entriesChecked: Int
  let issues: [IntegrityIssue]
  private let issueCount: Int
  private let unauthenticated: Int

  /// The view of the remaining `issues` after checking `entriesChecked` entries of `backend`; `issueCount` is their
  /// number if `issues` does not have them all. `unauthenticated` entries are sealed, and their key is not configured.
  init(
    backend: String, entriesChecked: Int, issues: [IntegrityIssue], issueCount: Int? = nil, unauthenticated: Int = 0
  ) {
    self.unauthenticated = unauthenticated
    self.backend = backend
    self.entriesChecked = entriesChecked
    self.issues = issues
    self.issueCount = issueCount ?? issues.count
  }

  /// Whether there are issues.
  var hasIssues: Bool { issueCount > 0 }

  /// How many issues are not listed.
  var omitted: Int { issueCount - issues.count }

  /// The document of `verify`. The member "omitted" appears if there are more issues than are listed, the member
  /// "unauthenticated" if there are such entries.
  var json: JSONValue {
    let counts = [("omitted", omitted), ("unauthenticated", unauthenticated)].filter { $0.1 > 0 }
    let more = counts.map { JSONValue.Member($0.0, .integer($0.1)) }
    return .object(
      [
        .init("backend", .string(backend)), .init("entriesChecked", .integer(entriesChecked)),
        .init("issues", .array(records)),
      ] + more)
  }

  /// The names of the members of an issue.
  var columns: [String] { ["key", "kind", "message"] }

  /// The issues.
  var records: [JSONValue] { issues.map(\.record) }

  /// The issues; empty if there are none.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    Self.table(issues, title: "Issue", on: screen, hasHeader: hasHeader)
  }

  /// A line for each issue; on a narrow screen the message goes below the key. Keys are never cut: people copy them.
  fileprivate static func table(_ issues: [IntegrityIssue], title: String, on screen: Screen, hasHeader: Bool = true)
    -> String
  {
    let wide = Table([.init(title), .init("Key"), .init("Message")], rows: issues.map(\.wideCells))
    let lines = wide.text(on: .file, hasHeader: hasHeader).split(separator: "\n")
    let width = screen.width ?? .max
    if lines.allSatisfy({ DisplayWidth.width(String($0)) <= width }) {
      return wide.text(on: screen, hasHeader: hasHeader)
    }
    return Table([.init(title), .init("Key and message")], rows: issues.flatMap(\.narrowCells))
      .wrappingLastColumn(on: screen).text(on: screen.unlimited, hasHeader: hasHeader)
  }

  /// How much was checked, and whether all is well.
  var status: StatusLine? { status(noting: nil) }

  /// The same remark, except that with a `remark` it does not say that all is well.
  fileprivate func status(noting remark: String?) -> StatusLine {
    let checked = "\(NumberText.count(entriesChecked, "entry", "entries")) of \(backend) checked"
    let found = hasIssues ? NumberText.count(issueCount, "issue", "issues") : "no issues"
    let listed = issueCount > issues.count ? ["the first \(NumberText.text(issues.count)) are listed"] : []
    let sealed =
      unauthenticated > 0
      ? ["\(NumberText.count(unauthenticated, "sealed entry", "sealed entries")) without a key: only checksums checked"]
      : []
    let isWell = !hasIssues && remark == nil
    return StatusLine([checked, found] + listed + sealed + [remark].compactMap(\.self), style: isWell ? .green : .red)
  }
}

/// The repair of a store and the check after it, or its dry run.
struct RepairView: OutputView {
  private let repair: RepairReport
  private let isDryRun: Bool
  private let result: IntegrityView
  /// The lost entries whose keys are known.
  private let lost: [IntegrityIssue]
  /// The places where unknown entries may have been lost.
  private let mayHaveLost: [IntegrityIssue]

  /// The view of `repair`, or of what it would do, and of the check `result`, made after the repair, or before a dry
  /// run.
  init(_ repair: RepairReport, isDryRun: Bool = false, result: IntegrityView) {
    self.repair = repair
    self.isDryRun = isDryRun
    self.result = result
    lost = repair.lost.filter { $0.key != nil }
    mayHaveLost = repair.lost.filter { $0.key == nil }
  }

  /// Whether the store still has issues, or entries may have been lost.
  var isFailure: Bool { result.hasIssues || !repair.lost.isEmpty }

  /// The document of `verify`, with the member "repair".
  var json: JSONValue {
    guard case .object(let members) = result.json else { return result.json }
    return .object(members + [.init("repair", repairDocument)])
  }

  private var repairDocument: JSONValue {
    [
      "dryRun": .boolean(isDryRun), "saved": .integer(repair.saved), "lost": .array(lost.map(\.record)),
      "mayHaveLost": .array(mayHaveLost.map(\.record)), "mended": .array(repair.mended.map(\.record)),
      "movedTo": JSONValue(repair.movedTo),
    ]
  }

  /// The names of the members of an issue, and its outcome.
  var columns: [String] { result.columns + ["outcome"] }

  /// What was lost, what may be lost, what was mended, then what remains.
  var records: [JSONValue] {
    lost.map { Self.record($0.record, "lost") }
      + mayHaveLost.map { Self.record($0.record, "mayHaveLost") }
      + repair.mended.map { Self.record($0.record, "mended") }
      + result.records.map { Self.record($0, "remains") }
  }

  /// What was saved, and where the damaged files are, then tables of what was lost, was mended and remains.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    let (saved, lossTitle) = isDryRun ? ("Would save", "Would lose") : ("Saved", "Lost")
    let files = repair.movedTo.map { (name: "Damaged file", value: Table.Cell($0, .plain)) }
    let figures: [(name: String, value: Table.Cell)] = [
      (saved, .init(NumberText.count(repair.saved, "entry", "entries"), .green)),
      (lossTitle, .init(lostText, repair.lost.isEmpty ? .green : .red)),
    ]
    let tables = [
      IntegrityView.table(lost + mayHaveLost, title: lossTitle, on: screen),
      IntegrityView.table(repair.mended, title: isDryRun ? "Would mend" : "Mended", on: screen),
      result.table(on: screen, hasHeader: true),
    ]
    return ([Details.text(figures + files, on: screen)] + tables.filter { !$0.isEmpty }).joined(separator: "\n")
  }

  /// The result of the check after the repair, and the losses of the repair.
  var status: StatusLine? {
    if isDryRun { return StatusLine(["Dry run: nothing was changed"]) }
    return repair.lost.isEmpty ? result.status : result.status(noting: "lost \(lostText)")
  }

  /// The number of lost entries with known keys, and of places whose entries are unknown.
  private var lostText: String {
    let entries = NumberText.count(lost.count, "entry", "entries")
    if mayHaveLost.isEmpty { return entries }
    return "\(entries), and what was in \(NumberText.count(mayHaveLost.count, "damaged place", "damaged places"))"
  }

  private static func record(_ record: JSONValue, _ outcome: String) -> JSONValue {
    guard case .object(let members) = record else { return record }
    return .object(members + [.init("outcome", .string(outcome))])
  }
}

extension IntegrityIssue {
  /// The members of an issue.
  fileprivate var record: JSONValue {
    ["key": JSONValue(key?.text), "kind": .string(kind.rawValue), "message": .string(message)]
  }

  fileprivate var wideCells: [Table.Cell] { [.init(kind.rawValue, .red), .init(key?.text), .init(message, .plain)] }

  fileprivate var narrowCells: [[Table.Cell]] {
    [[.init(kind.rawValue, .red), .init(key?.text)], [.init("", .plain), .init(message, .dim)]]
  }
}
