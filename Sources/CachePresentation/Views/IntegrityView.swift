/// What a check of a store found.
public struct IntegrityView: OutputView {
  /// Something that is wrong.
  public struct IssueRow: Sendable, Hashable {
    /// The key of the entry concerned; `nil` where the store as a whole is.
    public let key: String?
    /// The kind of damage, in camel case.
    public let kind: String
    /// What was found, in one line.
    public let message: String

    /// An issue with the given fields.
    public init(key: String?, kind: String, message: String) {
      self.key = key
      self.kind = kind
      self.message = message
    }
  }

  private let backend: String
  private let entriesChecked: Int
  private let issues: [IssueRow]

  /// The view of the `issues` that remain after checking `entriesChecked` entries of `backend`.
  public init(backend: String, entriesChecked: Int, issues: [IssueRow]) {
    self.backend = backend
    self.entriesChecked = entriesChecked
    self.issues = issues
  }

  /// The document of `verify`.
  public var json: JSONValue {
    ["backend": .string(backend), "entriesChecked": .integer(entriesChecked), "issues": .array(records)]
  }

  /// The names of the members of an issue.
  public var columns: [String] { ["key", "kind", "message"] }

  /// The issues.
  public var records: [JSONValue] {
    issues.map { ["key": JSONValue($0.key), "kind": .string($0.kind), "message": .string($0.message)] }
  }

  /// The issues; nothing where all is well.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let rows = issues.map { [Table.Cell($0.kind, .red), Table.Cell($0.key), Table.Cell($0.message, .plain)] }
    let columns: [Table.Column] = [
      .init("Issue"), .init("Key", isShrinkable: true), .init("Message", isShrinkable: true),
    ]
    return Table(columns, rows: rows).text(on: screen, hasHeader: hasHeader)
  }

  /// How much was checked, and whether all is well.
  public var status: StatusLine? {
    let checked = "\(NumberText.count(entriesChecked, "entry", "entries")) of \(backend) checked"
    if issues.isEmpty { return StatusLine([checked, "no issues"], style: .green) }
    return StatusLine([checked, NumberText.count(issues.count, "issue", "issues")], style: .red)
  }
}
