/// The effective configuration.
public struct SettingsView: OutputView {
  /// The value of one setting.
  public struct SettingRow: Sendable, Hashable {
    /// The names on its path, such as `["cache", "timeToLive"]`.
    public let path: [String]
    /// Its value as in the configuration. A secret appears only as the name of its variable.
    public let value: JSONValue
    /// Where the value comes from, such as "default" or the name of a file or variable.
    public let origin: String

    /// A setting and its origin.
    public init(path: [String], value: JSONValue, origin: String) {
      self.path = path
      self.value = value
      self.origin = origin
    }

    /// The names, joined by full stops.
    public var key: String { path.joined(separator: ".") }
  }

  /// The file of the settings.
  public struct File: Sendable, Hashable {
    /// Its absolute path.
    public let path: String
    /// Whether the file is trusted, in a few words.
    public let trust: String

    /// A configuration file and its trust.
    public init(path: String, trust: String) {
      self.path = path
      self.trust = trust
    }
  }

  private let settings: [SettingRow]
  private let file: File?
  private let showsOrigin: Bool

  /// The view of `settings` in their order; `showsOrigin` adds the origin of each, and the file.
  public init(_ settings: [SettingRow], file: File? = nil, showsOrigin: Bool) {
    self.settings = settings
    self.file = file
    self.showsOrigin = showsOrigin
  }

  /// Without origins, a document that is a valid configuration itself; with them `{"file", "trust", "settings":
  /// [{"key", "value", "origin"}]}`, the first two `null` if no file is used.
  public var json: JSONValue {
    if showsOrigin {
      return ["file": JSONValue(file?.path), "trust": JSONValue(file?.trust), "settings": .array(records)]
    }
    return settings.reduce(.object([])) { Self.setting($1.value, at: $1.path[...], in: $0) }
  }

  /// The names of the members of a setting.
  public var columns: [String] { showsOrigin ? ["key", "value", "origin"] : ["key", "value"] }

  /// The settings.
  public var records: [JSONValue] {
    settings.map { setting in
      let members: [JSONValue.Member] = [.init("key", .string(setting.key)), .init("value", setting.value)]
      return .object(showsOrigin ? members + [.init("origin", .string(setting.origin))] : members)
    }
  }

  /// The file with its trust, if origins are shown.
  public var status: StatusLine? {
    guard showsOrigin else { return nil }
    return StatusLine([file.map { "\($0.path) (\($0.trust))" } ?? "No file: every setting has its default"])
  }

  /// The settings, one per line.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let columns: [Table.Column] = [.init("Setting"), .init("Value", isShrinkable: true)]
    let rows = settings.map { setting in
      let cells = [Table.Cell(setting.key, .plain), Table.Cell(CSVText.field(setting.value), .bold)]
      return showsOrigin ? cells + [Table.Cell(setting.origin, .dim)] : cells
    }
    let table = Table(showsOrigin ? columns + [.init("Origin", isShrinkable: true)] : columns, rows: rows)
    return table.stackedText(on: screen) ?? table.text(on: screen, hasHeader: hasHeader)
  }

  /// `document` with `value` at the end of `path`. A value on the way that is not an object is replaced by one.
  private static func setting(_ value: JSONValue, at path: ArraySlice<String>, in document: JSONValue) -> JSONValue {
    guard let name = path.first else { return value }
    var members: [JSONValue.Member] = if case .object(let members) = document { members } else { [] }
    let index = members.firstIndex { $0.name == name }
    let inner = setting(value, at: path.dropFirst(), in: index.map { members[$0].value } ?? .object([]))
    if let index { members[index] = .init(name, inner) } else { members.append(.init(name, inner)) }
    return .object(members)
  }
}
