public import StorageSPI

/// What is tested: an engine, the options that it is opened with, and a place for its stores.
public struct ConformanceSubject: Sendable {
  /// The engine.
  public let plugin: any StoragePlugin

  /// Values for options of the engine; the others have their defaults.
  public let values: [String: OptionValue]

  /// The absolute path of a folder that is the suite's alone. Whoever passes it in removes it afterwards.
  public let scratchFolder: String

  /// The engine `plugin`, opened with `values`, on stores below `scratchFolder`.
  ///
  /// Every option of the kind `path` is replaced by a path below the scratch folder, a different one for each check,
  /// and every one of the kind `storeName` by a name that no other check and no other run has: the suite never comes
  /// near a store that is in use, whatever `values` says. What it leaves in stores that have only a name it removes. An
  /// engine without such options must be empty whenever it is opened for the first time.
  ///
  /// - Throws: `StorageError` with the code `invalidOption` where `values` does not fit what the engine declares.
  public init(
    plugin: any StoragePlugin, values: [String: OptionValue] = [:], scratchFolder: String
  ) throws(StorageError) {
    self.plugin = plugin
    self.values = values
    self.scratchFolder = scratchFolder
    _ = try configuration(store: "store", run: 0, clock: ManualClock(Timestamp(milliseconds: 0)))
  }

  /// The capabilities that the engine declares.
  public var capabilities: Set<EngineCapability> { plugin.declaration.capabilities }

  /// Whether the engine tells stores apart by name, so that no folder holds what the suite leaves behind.
  var hasNamedStores: Bool { plugin.declaration.options.contains { $0.kind == .storeName } }

  /// What the engine is opened with for the store called `store`, a path relative to the scratch folder, in the run
  /// whose number is `run`; `overrides` go before all else.
  func configuration(
    store: String, run: UInt64, overrides: [String: OptionValue] = [:], clock: any WallClock
  ) throws(StorageError) -> EngineConfiguration {
    var values = values
    for option in plugin.declaration.options {
      switch option.kind {
      case .path: values[option.name] = .text("\(scratchFolder)/\(store)/\(option.name)")
      case .storeName: values[option.name] = .text(Self.storeName(of: store, run: run))
      default: break
      }
    }
    values.merge(overrides) { $1 }
    return try EngineConfiguration(for: plugin.declaration, values: values, clock: clock)
  }

  /// A name of at most 45 bytes that is the same for the same store of the same run.
  private static func storeName(of store: String, run: UInt64) -> String {
    "conformance-\(String(run, radix: 16))-\(String(FNV1a.hash(store.utf8), radix: 16))"
  }
}
