/// The places where a file may be.
public struct PathsView: OutputView {
  /// A place for the file.
  public struct PathRow: Sendable, Hashable {
    /// The absolute path.
    public let path: String
    /// Whether the file exists.
    public let exists: Bool
    /// Whether this file is in use.
    public let isUsed: Bool
    /// What gives the place, such as "--config" or "default".
    public let source: String
    /// Whether the file may be used, in a few words; `nil` if unknown.
    public let trust: String?

    /// A place for the file.
    public init(path: String, exists: Bool, isUsed: Bool, source: String, trust: String?) {
      self.path = path
      self.exists = exists
      self.isUsed = isUsed
      self.source = source
      self.trust = trust
    }
  }

  private let paths: [PathRow]

  /// The view of `paths`, in the order in which they are searched.
  public init(_ paths: [PathRow]) {
    self.paths = paths
  }

  /// The document `{"file", "searched": [{"path", "exists", "used", "source", "trust"}]}`.
  public var json: JSONValue {
    ["file": JSONValue(paths.first(where: \.isUsed)?.path), "searched": .array(records)]
  }

  /// The names of the members of a place.
  public var columns: [String] { ["path", "exists", "used", "source", "trust"] }

  /// One object for each place.
  public var records: [JSONValue] {
    paths.map { row in
      [
        "path": .string(row.path), "exists": .boolean(row.exists), "used": .boolean(row.isUsed),
        "source": .string(row.source), "trust": JSONValue(row.trust),
      ]
    }
  }

  /// One line for each place.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let rows: [[Table.Cell]] = paths.map { row in
      let trust = row.trust.map { row.isUsed ? "used, \($0)" : $0 }
      let use: Table.Cell =
        row.isUsed
        ? .init(trust ?? "used", .green) : .init(trust ?? (row.exists ? "not reached" : "not there"), .dim)
      return [.init(row.path), use, .init(row.source, .dim)]
    }
    let table = Table([.init("File"), .init("State"), .init("Named by")], rows: rows)
    return table.stackedText(on: screen) ?? table.text(on: screen, hasHeader: hasHeader)
  }

  /// The remark that defaults are used, if there is no file.
  public var status: StatusLine? {
    paths.contains { $0.isUsed || $0.trust != nil } ? nil : StatusLine(["No file: every setting has its default"])
  }
}
