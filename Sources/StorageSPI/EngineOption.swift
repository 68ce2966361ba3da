/// One option of an engine, declared once. Flags, environment variables, validation of the configuration, its schema
/// and `backends show` are all made out of the declaration.
public struct EngineOption: Sendable, Hashable {
  /// What values an option takes, and their range.
  public enum Kind: Sendable, Hashable {
    /// Any text.
    case text
    /// A path of a file or folder. The engine receives it absolute.
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
    /// Which of several stores in one place, such as on a server: 1 to 64 lower-case letters, digits and hyphens, the
    /// first a letter. Stores of different names have no entry in common.
    case storeName
  }

  /// The name in the configuration, in camel case.
  public let name: String
  /// The values that are allowed.
  public let kind: Kind
  /// The value where none is given; `nil` where there is none.
  public let defaultValue: OptionValue?
  /// What the option is for, in one line without a final full stop.
  public let help: String
  /// Whether a value must be given.
  public let isRequired: Bool
  /// Whether the value must never be shown or logged.
  public let isSecret: Bool

  /// An option with the given fields.
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

  /// The option "durability" that every persistent engine has.
  public static let durability = EngineOption(
    "durability", .choice(Durability.allCases.map(\.rawValue)), default: .text(Durability.normal.rawValue),
    help: "what a commit survives: full (loss of power), normal (a crash), relaxed (fastest)")

  /// The option "busyTimeout" of engines whose store can be held by another process.
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
