/// An engine's description of itself. Its flags, help and configuration are all derived from it.
public struct EngineDeclaration: Sendable {
  /// The engine's name in the configuration and after `--backend`: lower-case letters and digits.
  public let name: String
  /// The version of the engine, or of the library under it.
  public let version: String
  /// What the engine is, in one line without a final full stop.
  public let summary: String
  /// What the engine can do.
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
  /// A batch is all or nothing, across all namespaces, for concurrent readers and writers too. Without this, a batch
  /// that fails on a requirement or on its bounds leaves the store unchanged only if no one else writes meanwhile.
  public static let atomicBatches = EngineCapability(rawValue: "atomic-batches")
  /// The engine drops expired entries on its own, not only when it is compacted.
  public static let nativeExpiry = EngineCapability(rawValue: "native-expiry")
}
