/// Where a file is looked for.
public struct PathsView: OutputView {
  /// A place where the file may be.
  public struct PathRow: Sendable, Hashable {
    /// The absolute path.
    public let path: String
    /// Whether there is a file.
    public let exists: Bool
    /// Whether it is the one that is used.
    public let isUsed: Bool
    /// What names the place, such as "--config" or "default".
    public let source: String
    /// Whether the file may be used, in a few words; `nil` where that was not asked.
    public let trust: String?

    /// A place with the given fields.
    public init(path: String, exists: Bool, isUsed: Bool, source: String, trust: String?) {
      self.path = path
      self.exists = exists
      self.isUsed = isUsed
      self.source = source
      self.trust = trust
    }
  }

  private let paths: [PathRow]

  /// The view of `paths`, in the order in which they are tried.
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

  /// That defaults are used, where there is no file.
  public var status: StatusLine? {
    paths.contains { $0.isUsed || $0.trust != nil } ? nil : StatusLine(["No file: every setting has its default"])
  }
}
