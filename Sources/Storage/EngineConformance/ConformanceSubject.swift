public import EngineAPI
internal import Synchronization

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
      // A busy machine is not a defect of the engine.
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

/// The input of a check: the engine to open, a clock, and random numbers.
struct ConformanceContext: Sendable {
  /// The engine under test.
  let subject: ConformanceSubject
  /// The name of the check, which is part of its stores' names.
  let check: String
  /// The seed of the run.
  let seed: UInt64
  /// A number unique to this run, for the names of stores: two runs can use one server at the same time.
  let run: UInt64
  /// How much work to do, 1 or more.
  let rounds: Int
  /// The clock of all engines in the check.
  let clock = ManualClock(Sample.start)
  /// The engines opened so far. The suite closes them when the check has ended, even after a failure.
  let handles = OpenHandles()

  /// Random numbers that depend only on the seed and the check.
  func generator() -> SeededGenerator { SeededGenerator(seed: seed, name: check) }

  /// Opens the check's store called `store`.
  func open(store: String = "store", overrides: [String: OptionValue] = [:]) async throws -> any StorageEngine {
    let name = "\(check)/\(store)"
    let configuration = try subject.configuration(store: name, run: run, overrides: overrides, clock: clock)
    let engine = try await subject.plugin.open(configuration)
    handles.add(engine, of: store)
    return engine
  }

  /// Closes `engine` and opens the store called `store` again.
  func reopen(_ engine: any StorageEngine, store: String = "store") async throws -> any StorageEngine {
    try await engine.close()
    return try await open(store: store)
  }
}

extension ConformanceContext {
  /// Whether the engine declares `capability`.
  func has(_ capability: EngineCapability) -> Bool { subject.capabilities.contains(capability) }

  /// Engines for four tasks at the same time: on two handles in turn if the engine is `shared`, else the same one.
  func openForTasks(_ overrides: [String: OptionValue] = [:]) async throws -> [any StorageEngine] {
    var engines = [try await open(overrides: overrides)]
    if has(.shared) { engines.append(try await open(overrides: overrides)) }
    return (0..<4).map { engines[$0 % engines.count] }
  }

  /// Empties the check's stores that differ only in name: removing a folder does not remove them.
  func removeLeftovers() async throws {
    guard subject.hasNamedStores else { return }
    for store in handles.stores {
      let engine = try await open(store: store)
      try await engine.apply(WriteBatch(try await entries(of: engine).map { .remove($0.key) }))
      try await engine.close()
    }
  }
}

/// The engines that a check has opened.
final class OpenHandles: Sendable {
  private let opened = Mutex<[(engine: any StorageEngine, store: String)]>([])

  /// The engines, in the order of opening.
  var all: [any StorageEngine] { opened.withLock { $0.map(\.engine) } }

  /// The names of the opened stores.
  var stores: Set<String> { opened.withLock { Set($0.map(\.store)) } }

  /// Adds `engine`, which has the store called `store` open.
  func add(_ engine: any StorageEngine, of store: String) { opened.withLock { $0.append((engine, store)) } }
}

/// A clock that moves only when told to, so that tests of expiry need not wait.
public final class ManualClock: WallClock {
  private let milliseconds: Atomic<Int64>

  /// A clock that shows `time`.
  public init(_ time: Timestamp) { milliseconds = Atomic(time.milliseconds) }

  /// The time set last.
  public var now: Timestamp { Timestamp(milliseconds: milliseconds.load(ordering: .sequentiallyConsistent)) }

  /// Moves the clock to `time`, forwards or backwards.
  public func set(_ time: Timestamp) { milliseconds.store(time.milliseconds, ordering: .sequentiallyConsistent) }

  /// Moves the clock by `duration`, as `Timestamp.advanced(by:)` does.
  public func advance(by duration: Duration) { set(now.advanced(by: duration)) }
}
