internal import CachePresentation
internal import CacheCore
internal import EngineAPI

/// The findings of a check of a store.
struct IntegrityView: OutputView {
  private let backend: String
  let entriesChecked: Int
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
  var status: StatusLine? {
    let checked = "\(NumberText.count(entriesChecked, "entry", "entries")) of \(backend) checked"
    let found = hasIssues ? NumberText.count(issueCount, "issue", "issues") : "no issues"
    let listed = issueCount > issues.count ? ["the first \(NumberText.text(issues.count)) are listed"] : []
    let sealed =
      unauthenticated > 0
      ? ["\(NumberText.count(unauthenticated, "sealed entry", "sealed entries")) without a key: only checksums checked"]
      : []
    return StatusLine([checked, found] + listed + sealed, style: hasIssues ? .red : .green)
  }
}

/// The repair of a store, or its dry run, and the check that led to it.
struct RepairView: OutputView {
  private let repair: RepairReport
  private let isDryRun: Bool
  private let result: IntegrityView

  /// The view of `repair`, or of what it would do, after the check `result`.
  init(_ repair: RepairReport, isDryRun: Bool = false, result: IntegrityView) {
    (self.repair, self.isDryRun, self.result) = (repair, isDryRun, result)
  }

  /// The document of `verify`, with the member "repair".
  var json: JSONValue {
    guard case .object(let members) = result.json else { return result.json }
    let document: JSONValue = [
      "dryRun": .boolean(isDryRun), "saved": .integer(repair.saved), "lost": .array(repair.lost.map(\.record)),
      "possiblyLost": .array(repair.possiblyLost.map(\.record)), "movedTo": JSONValue(repair.movedTo),
    ]
    return .object(members + [.init("repair", document)])
  }

  /// The names of the members of an issue, and its outcome.
  var columns: [String] { result.columns + ["outcome"] }

  /// The issues that led to the repair, then those that it met.
  var records: [JSONValue] {
    let groups = [
      (result.records, "found"), (repair.lost.map(\.record), "lost"),
      (repair.possiblyLost.map(\.record), "possiblyLost"),
    ]
    return groups.flatMap { records, outcome in records.map { Self.record($0, outcome) } }
  }

  /// What was saved, and where the damaged store is, then what was found and lost.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    let (saved, lossTitle) = isDryRun ? ("Would save", "Would lose") : ("Saved", "Lost")
    var figures: [(name: String, value: Table.Cell)] = [
      (saved, .init(NumberText.count(repair.saved, "entry", "entries"), .green))
    ]
    if !repair.lost.isEmpty {
      figures.append((lossTitle, .init(NumberText.count(repair.lost.count, "entry", "entries"), .red)))
    }
    figures += repair.movedTo.prefix(1).map { (name: "Damaged store", value: Table.Cell($0, .plain)) }
    let tables = [
      result.table(on: screen, hasHeader: true),
      IntegrityView.table(repair.lost + repair.possiblyLost, title: lossTitle, on: screen),
    ]
    return ([Details.text(figures, on: screen)] + tables.filter { !$0.isEmpty }).joined(separator: "\n")
  }

  /// How much was saved.
  var status: StatusLine? {
    if isDryRun { return StatusLine(["Dry run: nothing was changed"]) }
    let saved = NumberText.count(repair.saved, "entry", "entries")
    return StatusLine(["saved \(saved); there may have been more"], style: .red)
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
