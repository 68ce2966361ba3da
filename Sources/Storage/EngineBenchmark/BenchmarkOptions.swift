public import EngineAPI

/// How to run a benchmark, for any workload.
public struct BenchmarkOptions: Sendable {
  /// The absolute path of a folder for the stores, for this benchmark alone. The caller removes it.
  public var scratchFolder = ""
  /// The prefix of store names on servers, unique to this run: lowercase letters, digits and hyphens, first a letter,
  /// at most 48.
  public var runName = ""
  /// The date of the run, which is also the current time for expiry.
  public var date = Timestamp(milliseconds: 0)
  /// The numbers of entries to run each workload with, one after the other; empty to use the workload's.
  public var entries: [Int] = []
  /// The number of operations; `nil` to use the workload's.
  public var operations: Int?
  /// The size of values in bytes; `nil` to use the workload's.
  public var valueSize: Int?
  /// The number of workers, each on its own thread.
  public var threads = 1
  /// The number of measured rounds. Fewer than five say little about the spread.
  public var rounds = 5
  /// The number of rounds before those, which are not measured.
  public var warmUpRounds = 1
  /// The seed of all random choices. Every engine gets the same operations in the same order.
  public var seed: UInt64 = 42
  /// The failures that a commit must survive, on every engine with such an option.
  public var durability = Durability.normal
  /// The number of processes that run on the same stores.
  ///
  /// For a run by N processes, start the same run N times, each with its `process`, the same scratch folder and the same
  /// `runName`, and merge the reports (`BenchmarkReport.merging(_:)`). Each process has its own entries, as many as the
  /// workload says, in the common store, and checks those: it can check every answer without asking the others. Only
  /// `shared` engines can do this; others are skipped. The caller that started the processes removes the scratch folder:
  /// a process that is done must not remove the store of the others.
  public var processes = 1
  /// The number of this process, from 0.
  public var process = 0

  static let roundsRange = 1...1_000

  /// The defaults, without a place for the stores.
  public init() {}

  /// `workload`, changed by these options, with `entries` entries.
  func applied(to workload: Workload, entries: Int) -> Workload {
    var workload = workload
    workload.entries = entries
    if let operations { workload.operations = operations }
    if let valueSize { workload.valueSize = valueSize }
    return workload
  }

  /// - Throws: `CacheError` with the code `invalidOption` if a value is out of its range; the message begins with the
  ///   name of the option.
  public func validate() throws(CacheError) {
    for number in entries { try require("entries", number, Workload.entriesRange) }
    if let operations { try require("operations", operations, Workload.operationsRange) }
    if let valueSize { try require("value-size", valueSize, Workload.valueSizeRange) }
    try require("threads", threads, 1...256)
    try require("processes", processes, 1...32)
    try require("process", process, 0...processes - 1)
    try require("rounds", rounds, Self.roundsRange)
    try require("warm-up-rounds", warmUpRounds, 0...1_000)
  }

  private func require(_ name: String, _ number: Int, _ range: ClosedRange<Int>) throws(CacheError) {
    guard !range.contains(number) else { return }
    throw CacheError(
      .invalidOption, "\(name) must be from \(range.lowerBound) to \(range.upperBound), and not \(number)")
  }
}

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

  var hasDurability: Bool { plugin.declaration.options.contains { $0.name == EngineOption.durability.name } }

  /// The configuration to open store number `number` of the run.
  func configuration(_ options: BenchmarkOptions, number: Int) throws(CacheError) -> EngineConfiguration {
    var values = values
    let name = "\(options.runName)-\(number)"
    for option in plugin.declaration.options {
      if option.kind == .path { values[option.name] = .text("\(options.scratchFolder)/\(name)/\(option.name)") }
      if option.kind == .storeName { values[option.name] = .text(name) }
      if option.name == EngineOption.durability.name { values[option.name] = .text(options.durability.rawValue) }
    }
    return try EngineConfiguration(for: plugin.declaration, values: values, clock: FixedClock(now: options.date))
  }

  /// Why the engine cannot run the workload; `nil` if it can.
  func reasonToSkip(
    _ workload: Workload, _ options: BenchmarkOptions, _ actions: BenchmarkActions
  ) -> String? {
    let capabilities = plugin.declaration.capabilities
    if workload.needsPersistence, !capabilities.contains(.persistent) { return "keeps nothing when it is closed" }
    if options.processes > 1, !capabilities.contains(.shared) { return "cannot be used by several processes" }
    if workload.needsOrder, !capabilities.contains(.ordered) { return "lists its entries in no order" }
    if workload.payload == .bounded, !capabilities.contains(.bounded) { return "does not check the limits of a store" }
    if workload.payload == .typed, actions.typed == nil { return "no records to decode" }
    if workload.payload == .bounded, actions.openCache == nil { return "no cache to read through" }
    return nil
  }
}

/// A clock that stands still: no entry expires by itself during a benchmark.
private struct FixedClock: WallClock {
  let now: Timestamp
}

/// The parts of workloads that this level does not know: how records are decoded, and how a cache evicts.
public struct BenchmarkActions: Sendable {
  /// Reads the resource with the given number through a cache, from 0 up to the workload's number of entries, and stores
  /// it if it is not there. Any number of tasks call it concurrently.
  ///
  /// The second parameter is whether to look it up first: a load only stores.
  public typealias Read = @Sendable (Int, Bool) async throws(CacheError) -> BenchmarkAnswer

  /// The records for workloads with the payload `typed`; `nil` skips these workloads.
  public var typed: TypedPayload?
  /// Opens a cache over a store that was just opened, for workloads with the payload `bounded`; it is used until the
  /// store is closed. `nil` skips these workloads.
  public var openCache: (@Sendable (BenchmarkStore) -> Read)?

  /// The actions; without them, workloads that need them are skipped.
  public init(typed: TypedPayload? = nil, openCache: (@Sendable (BenchmarkStore) -> Read)? = nil) {
    self.typed = typed
    self.openCache = openCache
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

/// A store that was just opened for a cache, and the workload's entries.
public struct BenchmarkStore: Sendable {
  /// The engine.
  public let engine: any StorageEngine
  /// The capabilities of the engine.
  public let capabilities: Set<EngineCapability>
  /// The most entries that the store can hold.
  public let maximumEntries: Int
  /// The key of the entry with the given number. Other processes of the run have other keys.
  public let key: @Sendable (Int) throws(CacheError) -> CacheKey
  /// The bytes of the entries, of the sizes that the workload sets.
  public let bytes: TypedPayload
}

/// The result of a read through a cache.
public enum BenchmarkAnswer: Sendable, Hashable {
  /// The right bytes, from the store.
  case hit
  /// The entry was not in the store, and is now.
  case miss
  /// Not the right bytes.
  case wrong
}
