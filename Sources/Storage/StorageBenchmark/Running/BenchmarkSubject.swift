public import StorageSPI

/// The subject of a measurement: an engine and its options.
public struct BenchmarkSubject: Sendable {
  /// The engine.
  public let plugin: any StoragePlugin

  /// Values for options of the engine; the others have their defaults.
  public let values: [String: OptionValue]

  /// The engine `plugin`, opened with `values` on the benchmark's own stores.
  ///
  /// Every option of the kind `path` becomes a path in the scratch folder, every one of the kind `storeName` a name
  /// unique to the run, and the durability is the run's, whatever `values` says: a benchmark never touches a store in
  /// use, and no engine is faster because it keeps less.
  public init(plugin: any StoragePlugin, values: [String: OptionValue] = [:]) {
    (self.plugin, self.values) = (plugin, values)
  }

  /// The engine's name.
  public var name: String { plugin.declaration.name }

  /// Whether the engine's stores differ only in name, and stay on the server until they are removed.
  public var hasNamedStore: Bool { has { $0 == .storeName } && !has { $0 == .path } }

  /// The configuration to open the store in `folder`, or called `name`.
  func configuration(
    folder: String, name: String, durability: Durability, clock: any WallClock
  ) throws(CacheError) -> EngineConfiguration {
    var values = values
    for option in plugin.declaration.options {
      if option.kind == .path { values[option.name] = .text("\(folder)/\(option.name)") }
      if option.kind == .storeName { values[option.name] = .text(name) }
      if option.name == EngineOption.durability.name { values[option.name] = .text(durability.rawValue) }
    }
    return try EngineConfiguration(for: plugin.declaration, values: values, clock: clock)
  }

  /// Why the engine cannot run the workload; `nil` if it can.
  func reasonToSkip(
    _ workload: Workload, _ options: BenchmarkOptions, _ actions: BenchmarkActions
  ) -> String? {
    let capabilities = plugin.declaration.capabilities
    if workload.needsPersistence, !capabilities.contains(.persistent) { return "keeps nothing when it is closed" }
    if options.share != nil, !capabilities.contains(.shared) { return "cannot be used by several processes" }
    if options.share != nil, workload.capacity > KeySpace.span { return "has more entries than a process has keys for" }
    if workload.payload == .typed, actions.typed == nil { return "no records to decode" }
    if workload.payload.isThroughCache, actions.fetcher(of: workload.payload) == nil { return "nothing to fetch with" }
    return nil
  }

  private func has(_ isOf: (EngineOption.Kind) -> Bool) -> Bool {
    plugin.declaration.options.contains { isOf($0.kind) }
  }
}
