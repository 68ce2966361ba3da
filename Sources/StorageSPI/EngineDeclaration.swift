/// What an engine says of itself, once: everything else about it is made out of this.
public struct EngineDeclaration: Sendable {
  /// The name in the configuration and after `--backend`: lower-case letters and digits.
  public let name: String
  /// The version of the engine, or of the library under it.
  public let version: String
  /// What the engine is, in one line without a final full stop.
  public let summary: String
  /// What it can do.
  public let capabilities: Set<EngineCapability>
  /// Its options, in the order in which they are shown.
  public let options: [EngineOption]

  /// A declaration with the given fields.
  public init(
    name: String, version: String, summary: String, capabilities: Set<EngineCapability>, options: [EngineOption]
  ) {
    self.name = name
    self.version = version
    self.summary = summary
    self.capabilities = capabilities
    self.options = options
  }
}

/// Something that an engine can do and another may not. The conformance suite runs the checks of those it declares.
public struct EngineCapability: RawRepresentable, Sendable, Hashable {
  /// The capability's name, in kebab case, as `backends list` shows it.
  public let rawValue: String

  /// The capability called `rawValue`.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// What is stored is still there when the store is opened again.
  public static let persistent = EngineCapability(rawValue: "persistent")
  /// Several handles, also of several processes, use one store at once and see each other's commits.
  public static let shared = EngineCapability(rawValue: "shared")
  /// A batch is all or nothing, over all namespaces, for whoever reads or writes at the same time too. Without it a
  /// batch that fails for what it requires, or for its bounds, changes nothing only while nobody else writes.
  public static let atomicBatches = EngineCapability(rawValue: "atomic-batches")
  /// The engine drops expired entries by itself, not only when it is compacted.
  public static let nativeExpiry = EngineCapability(rawValue: "native-expiry")
}
