/// One option of an engine, declared once. Flags, environment variables, configuration validation, the schema and
/// `backends show` are all derived from the declaration.
public struct EngineOption: Sendable, Hashable {
  /// The type of an option's value, and its range.
  public enum Kind: Sendable, Hashable {
    /// Any text.
    case text
    /// The path of a file or folder. The engine receives it as an absolute path.
    case path
    /// A whole number in the range.
    case integer(ClosedRange<Int64>)
    /// A number of bytes in the range, written like "64MiB".
    case size(ClosedRange<Int64>)
    /// A number of milliseconds in the range, written like "5s".
    case duration(ClosedRange<Int64>)
    /// Yes or no.
    case boolean
    /// One of the names.
    case choice([String])
    /// The name of one of several stores in one place, such as on a server: 1 to 64 lower-case letters, digits and
    /// hyphens, starting with a letter. Stores with different names share no entries.
    case storeName
  }

  /// The name in the configuration, in camel case.
  public let name: String
  /// The allowed values.
  public let kind: Kind
  /// The value if none is given; `nil` if there is no default.
  public let defaultValue: OptionValue?
  /// What the option is for, in one line without a final full stop.
  public let help: String
  /// Whether a value must be given.
  public let isRequired: Bool
  /// Whether the value must never be shown or logged.
  public let isSecret: Bool

  /// An option that is neither required nor secret unless stated.
  public init(
    _ name: String, _ kind: Kind, default defaultValue: OptionValue? = nil, help: String, isRequired: Bool = false,
    isSecret: Bool = false
  ) {
    self.name = name
    self.kind = kind
    self.defaultValue = defaultValue
    self.help = help
    self.isRequired = isRequired
    self.isSecret = isSecret
  }

  /// The option "durability", which every persistent engine has.
  public static let durability = EngineOption(
    "durability", .choice(Durability.allCases.map(\.rawValue)), default: .text(Durability.normal.rawValue),
    help: "what a commit survives: full (loss of power), normal (a crash), relaxed (fastest)")

  /// The option "busyTimeout", for engines whose store another process can lock.
  public static let busyTimeout = EngineOption(
    "busyTimeout", .duration(0...3_600_000), default: .integer(5_000),
    help: "how long to wait for another process that holds the store")
}

/// The value of an option.
public enum OptionValue: Sendable, Hashable {
  /// A text, a path or a choice.
  case text(String)
  /// A whole number, a size in bytes, or a duration in milliseconds.
  case integer(Int64)
  /// Yes or no.
  case boolean(Bool)
}
