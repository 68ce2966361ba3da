/// A configuration file that the user trusts from now on, and its settings that need trust.
public struct TrustView: OutputView {
  private let path: String
  private let settings: [(key: String, value: JSONValue)]

  /// The view of the file at `path` and of its settings.
  public init(path: String, settings: [(key: String, value: JSONValue)]) {
    self.path = path
    self.settings = settings
  }

  /// The document `{"path", "settings": [{"key", "value"}]}`.
  public var json: JSONValue { ["path": .string(path), "settings": .array(records)] }

  /// The names of the members of a setting.
  public var columns: [String] { ["key", "value"] }

  /// The settings.
  public var records: [JSONValue] { settings.map { ["key": .string($0.key), "value": $0.value] } }

  /// The settings, one per line.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let rows = settings.map { [Table.Cell($0.key, .plain), Table.Cell(CSVText.field($0.value), .bold)] }
    let table = Table([.init("Setting"), .init("Value")], rows: rows)
    return table.stackedText(on: screen) ?? table.text(on: screen.unlimited, hasHeader: hasHeader)
  }

  /// The remark that the file is trusted.
  public var status: StatusLine? {
    settings.isEmpty
      ? StatusLine(["\(path) is trusted, though nothing in it asks for it"]) : StatusLine(["\(path) is trusted"])
  }
}

/// The configuration files that the user trusts.
public struct TrustedFilesView: OutputView {
  /// A file.
  public struct FileRow: Sendable, Hashable {
    /// Its absolute path.
    public let path: String
    /// The SHA-256 digest of the trusted content, in hexadecimal digits.
    public let digest: String
    /// Whether the file still has the trusted content; `nil` if the file does not exist.
    public let isCurrent: Bool?

    /// A trusted file.
    public init(path: String, digest: String, isCurrent: Bool?) {
      self.path = path
      self.digest = digest
      self.isCurrent = isCurrent
    }

    fileprivate var state: String { isCurrent.map { $0 ? "trusted" : "changed" } ?? "missing" }
  }

  private let files: [FileRow]

  /// The view of `files` in their order.
  public init(_ files: [FileRow]) { self.files = files }

  /// The document `{"files": [{"path", "state", "sha256"}]}`; the state is "trusted", "changed" or "missing".
  public var json: JSONValue { ["files": .array(records)] }

  /// The names of the members of a file.
  public var columns: [String] { ["path", "state", "sha256"] }

  /// The files.
  public var records: [JSONValue] {
    files.map { ["path": .string($0.path), "state": .string($0.state), "sha256": .string($0.digest)] }
  }

  /// The files, one per line.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let rows = files.map { [Table.Cell($0.state, $0.isCurrent == true ? .green : .yellow), Table.Cell($0.path)] }
    return Table([.init("State"), .init("File")], rows: rows).text(on: screen.unlimited, hasHeader: hasHeader)
  }

  /// The remark that there are none.
  public var status: StatusLine? { files.isEmpty ? StatusLine(["No file is trusted"]) : nil }
}
