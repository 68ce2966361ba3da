/// The findings of a check of a store.
public struct IntegrityView: OutputView {
  /// Something wrong in a store.
  public struct IssueRow: Sendable, Hashable {
    /// The key of the entry; `nil` if the whole store is affected.
    public let key: String?
    /// The kind of damage, in camel case.
    public let kind: String
    /// What was found, in one line.
    public let message: String

    /// An issue of one entry or of the whole store.
    public init(key: String?, kind: String, message: String) {
      self.key = key
      self.kind = kind
      self.message = message
    }

    var record: JSONValue { ["key": JSONValue(key), "kind": .string(kind), "message": .string(message)] }

    fileprivate var wideCells: [Table.Cell] { [.init(kind, .red), .init(key), .init(message, .plain)] }

    fileprivate var narrowCells: [[Table.Cell]] {
      [[.init(kind, .red), .init(key)], [.init("", .plain), .init(message, .dim)]]
    }
  }

  private let backend: String
  private let entriesChecked: Int
  private let issues: [IssueRow]
  private let issueCount: Int

  /// The view of the remaining `issues` after checking `entriesChecked` entries of `backend`; `issueCount` is their
  /// number if `issues` does not have them all.
  public init(backend: String, entriesChecked: Int, issues: [IssueRow], issueCount: Int? = nil) {
    self.backend = backend
    self.entriesChecked = entriesChecked
    self.issues = issues
    self.issueCount = issueCount ?? issues.count
  }

  /// Whether there are issues.
  public var hasIssues: Bool { issueCount > 0 }

  /// The document of `verify`. The member "omitted" appears if there are more issues than are listed.
  public var json: JSONValue {
    let omitted = issueCount - issues.count
    let more: [JSONValue.Member] = omitted > 0 ? [.init("omitted", .integer(omitted))] : []
    return .object(
      [
        .init("backend", .string(backend)), .init("entriesChecked", .integer(entriesChecked)),
        .init("issues", .array(records)),
      ] + more)
  }

  /// The names of the members of an issue.
  public var columns: [String] { ["key", "kind", "message"] }

  /// The issues.
  public var records: [JSONValue] { issues.map(\.record) }

  /// The issues; empty if there are none.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    Self.table(issues, title: "Issue", on: screen, hasHeader: hasHeader)
  }

  /// A line for each issue; on a narrow screen the message goes below the key. Keys are never cut: people copy them.
  static func table(_ issues: [IssueRow], title: String, on screen: Screen, hasHeader: Bool = true) -> String {
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
  public var status: StatusLine? { status(noting: nil) }

  /// The same remark, except that with a `remark` it does not say that all is well.
  func status(noting remark: String?) -> StatusLine {
    let checked = "\(NumberText.count(entriesChecked, "entry", "entries")) of \(backend) checked"
    let found = hasIssues ? NumberText.count(issueCount, "issue", "issues") : "no issues"
    let listed = issueCount > issues.count ? ["the first \(NumberText.text(issues.count)) are listed"] : []
    let isWell = !hasIssues && remark == nil
    return StatusLine([checked, found] + listed + [remark].compactMap(\.self), style: isWell ? .green : .red)
  }
}
