public import StorageSPI

/// The subject of the tests: an engine, its options, and a folder for its stores.
public struct ConformanceSubject: Sendable {
  /// The engine.
  public let plugin: any StoragePlugin

  /// Values for options of the engine; the others have their defaults.
  public let values: [String: OptionValue]

  /// The absolute path of a folder for this suite alone. The caller removes it afterwards.
  public let scratchFolder: String

  /// The engine `plugin`, opened with `values` on stores in `scratchFolder`.
  ///
  /// Every option of the kind `path` becomes a path in the scratch folder, different for each check, and every one of
  /// the kind `storeName` a name unique to the check and the run, whatever `values` says: the suite never touches a
  /// store in use. It empties its stores that differ only in name. An engine without such options must be empty
  /// whenever it is opened for the first time.
  ///
  /// - Throws: `CacheError` with the code `invalidOption` if `values` does not match the engine's declaration.
  public init(
    plugin: any StoragePlugin, values: [String: OptionValue] = [:], scratchFolder: String
  ) throws(CacheError) {
    self.plugin = plugin
    self.values = values
    self.scratchFolder = scratchFolder
    _ = try configuration(store: "store", run: 0, clock: ManualClock(Timestamp(milliseconds: 0)))
  }

  /// The capabilities that the engine declares.
  public var capabilities: Set<EngineCapability> { plugin.declaration.capabilities }

  /// Whether the engine's stores differ only in name, so that no folder holds what the suite leaves behind.
  var hasNamedStores: Bool { plugin.declaration.options.contains { $0.kind == .storeName } }

  /// The configuration to open the store called `store`, a path relative to the scratch folder, in the run with the
  /// number `run`; `overrides` take precedence over everything else.
  func configuration(
    store: String, run: UInt64, overrides: [String: OptionValue] = [:], clock: any WallClock
  ) throws(CacheError) -> EngineConfiguration {
    var values = values
    for option in plugin.declaration.options {
      switch option.kind {
      case .path: values[option.name] = .text("\(scratchFolder)/\(store)/\(option.name)")
      case .storeName: values[option.name] = .text(Self.storeName(of: store, run: run))
      default: break
      }
      // A machine with much else to do is no defect of the engine.
      if option == .busyTimeout, values[option.name] == nil { values[option.name] = .integer(600_000) }
    }
    values.merge(overrides) { $1 }
    return try EngineConfiguration(for: plugin.declaration, values: values, clock: clock)
  }

  /// A name of at most 45 bytes, the same for the same store in the same run.
  private static func storeName(of store: String, run: UInt64) -> String {
    "conformance-\(String(run, radix: 16))-\(String(FNV1a.hash(store.utf8), radix: 16))"
  }
}
