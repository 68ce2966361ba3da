/// An engine's description of itself. Its flags, help and configuration are all derived from it.
public struct EngineDeclaration: Sendable {
  /// The engine's name in the configuration and after `--backend`: lowercase letters and digits.
  public let name: String
  /// The version of the engine, or of the library under it.
  public let version: String
  /// A description of the engine, in one line without a final full stop.
  public let summary: String

  /// The engine promises them to the core, and the conformance suite checks each of them.
  public let capabilities: Set<EngineCapability>
  /// The engine's options, in display order.
  public let options: [EngineOption]

  /// Declares an engine; `options` are in display order.
  public init(
    name: String, version: String, summary: String, capabilities: Set<EngineCapability>, options: [EngineOption]
  ) {
    self.name = name
    self.version = version
    self.summary = summary
    self.capabilities = capabilities
    self.options = options
  }

  /// Whether the engine's stores are on a server: there they have names, and no paths.
  public var isOnServer: Bool {
    let kinds = options.map(\.kind)
    return kinds.contains(.storeName) && !kinds.contains(.path)
  }

  /// The same engine with other capabilities, as a layer around it has them.
  public func with(_ capabilities: Set<EngineCapability>) -> EngineDeclaration {
    EngineDeclaration(name: name, version: version, summary: summary, capabilities: capabilities, options: options)
  }
}

/// An optional feature of an engine. The conformance suite runs the checks of the capabilities that an engine declares.
public struct EngineCapability: RawRepresentable, Sendable, Hashable {
  /// The capability's name, in kebab case, as `backends list` shows it.
  public let rawValue: String

  /// The capability called `rawValue`.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Entries are still there when the store is opened again.
  public static let persistent = EngineCapability(rawValue: "persistent")
  /// Several handles, even in different processes, can use one store at once and see each other's commits.
  public static let shared = EngineCapability(rawValue: "shared")
  /// A scan visits the keys in their order, or backwards, and can begin after any key.
  public static let ordered = EngineCapability(rawValue: "ordered")
  /// The engine checks the bounds of a batch in its commit. Without this it ignores them: its store has its own bounds,
  /// such as the memory of a server, and evicts at any time what it chooses.
  public static let bounded = EngineCapability(rawValue: "bounded")
  /// The engine drops expired entries on its own, not only when it is compacted.
  public static let expiring = EngineCapability(rawValue: "expiring")
  /// A batch is all or nothing, across all namespaces, for concurrent readers and writers too. Without this, that holds for
  /// a batch whose keys are in one group (`CacheKey.group`); another one that fails on a requirement or on its bounds leaves
  /// the store unchanged only if no one else writes meanwhile.
  public static let atomicBatches = EngineCapability(rawValue: "atomic-batches")
  /// The engine can tell at once whether anything in its store has changed: `StorageEngine.changeCount()`.
  public static let countsChanges = EngineCapability(rawValue: "counts-changes")
  /// The engine learns of others' changes soon after they are made: `StorageEngine.changeMark(of:)`.
  public static let followsChanges = EngineCapability(rawValue: "follows-changes")
  /// The engine refuses every change, with the code `permissionDenied`. The core then records no use of entries either.
  public static let readOnly = EngineCapability(rawValue: "read-only")
}

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
    /// The name of one of several stores in one place, such as on a server: 1 to 64 lowercase letters, digits and
    /// hyphens, starting with a letter. Stores with different names share no entries.
    case storeName
  }

  /// The name in the configuration, in camel case.
  public let name: String
  /// The allowed values.
  public let kind: Kind
  /// The value if none is given; `nil` if there is no default.
  public let defaultValue: OptionValue?
  /// The purpose of the option, in one line without a final full stop.
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
    help: "the failures that a commit survives: full (a power loss), normal (a crash), relaxed (the fastest)")

  /// The option "busyTimeout", for engines whose store another process can lock.
  public static let busyTimeout = EngineOption(
    "busyTimeout", .duration(0...3_600_000), default: .integer(5_000),
    help: "the maximum time to wait for another process that holds the store")
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

/// The failures that a commit survives. The names mean the same on every engine; each engine's README says how it
/// implements them.
public enum Durability: String, Sendable, CaseIterable {
  /// Every commit survives a power loss.
  case full
  /// A crash of the process loses nothing; a power loss can lose the last commits, but never consistency.
  case normal
  /// As fast as the engine can be: a crash of the process does not corrupt the store, but a power loss can.
  case relaxed
}
