public import EngineAPI

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
    self.plugin = plugin
    self.values = values
  }

  /// The engine's name.
  public var name: String { plugin.declaration.name }

  /// Whether the engine's stores differ only in name, and stay on the server until they are removed.
  public var hasNamedStore: Bool { plugin.declaration.isOnServer }

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
    if workload.phases.contains(where: { $0.share(of: .scan) > 0 }), !capabilities.contains(.ordered) {
      return "lists its entries in no order"
    }
    if workload.payload == .bounded, !capabilities.contains(.bounded) { return "does not check the limits of a store" }
    if workload.payload == .typed, actions.typed == nil { return "no records to decode" }
    if workload.payload.isThroughCache, actions.makeFetcher[workload.payload] == nil { return "nothing to fetch with" }
    return nil
  }
}

/// The parts of workloads that this layer does not know: how records are decoded, and how the cache fetches.
public struct BenchmarkActions: Sendable {
  /// Makes a fetcher through a cache over a store that was just opened. The fetcher is used until the store is closed.
  public typealias MakeFetcher = @Sendable (BenchmarkStore) async throws(CacheError) -> any BenchmarkFetcher

  /// The records for workloads with the payload `typed`; `nil` skips these workloads.
  public var typed: TypedPayload?
  /// Makes the fetcher for workloads with each of the payloads `fetched`, `kept` and `bounded`; workloads without
  /// theirs are skipped.
  public var makeFetcher: [Workload.Payload: MakeFetcher]

  /// The actions; without them, workloads that need them are skipped.
  public init(typed: TypedPayload? = nil, makeFetcher: [Workload.Payload: MakeFetcher] = [:]) {
    self.typed = typed
    self.makeFetcher = makeFetcher
  }
}

/// Records of some type, such as pages of movies, for a benchmark to store and decode.
public struct TypedPayload: Sendable {
  /// The encoded record of the entry with the given number, from 0. The same number always gives the same record.
  public let encode: @Sendable (Int) throws(CacheError) -> [UInt8]

  /// Decodes the bytes of the entry with the given number, and says whether they are the record that was encoded. This
  /// work is measured: it should do little besides decoding.
  public let isRight: @Sendable (Int, Span<UInt8>) throws(CacheError) -> Bool

  /// The records that these functions encode and check.
  public init(
    encode: @escaping @Sendable (Int) throws(CacheError) -> [UInt8],
    isRight: @escaping @Sendable (Int, Span<UInt8>) throws(CacheError) -> Bool
  ) {
    self.encode = encode
    self.isRight = isRight
  }
}

/// A store that was just opened for a fetcher, and what the workload says of its entries.
public struct BenchmarkStore: Sendable {
  /// The engine.
  public let engine: any StorageEngine
  /// The capabilities of the engine.
  public let capabilities: Set<EngineCapability>
  /// The most entries that the store may hold; `nil` for any number.
  public let maximumEntries: Int?
  /// The key of the entry with the given number. Other processes of the run have other keys.
  public let key: @Sendable (Int) throws(CacheError) -> CacheKey
  /// The bytes of the entries, of the sizes that the workload sets.
  public let bytes: TypedPayload
}

/// What a fetch returned.
public enum BenchmarkAnswer: Sendable, Hashable {
  /// The right answer, from the store.
  case hit
  /// The right answer, which was not in the store and is now.
  case miss
  /// Not the right answer, or not from where it had to come.
  case wrong
}

/// Fetches through a cache over one store.
public protocol BenchmarkFetcher: Sendable {
  /// Fetches the resource with the given number, from 0 up to the workload's number of entries: from the store if it is
  /// there, otherwise from its origin, and then stores it. Any number of tasks call it concurrently.
  ///
  /// - Parameter isStored: whether the load has stored the resource. Unless the store is bounded, it is still there.
  func fetch(_ number: Int, isStored: Bool) async throws(CacheError) -> BenchmarkAnswer
}
