internal import StorageSPI
internal import Synchronization

/// What the body of a check is given: the engine to open, a clock, and random numbers.
struct ConformanceContext: Sendable {
  /// The engine that is tested.
  let subject: ConformanceSubject
  /// The name of the check, which names its stores.
  let check: String
  /// The seed of the run.
  let seed: UInt64
  /// How much work to do, 1 or more.
  let rounds: Int
  /// The clock of all engines that the check opens.
  let clock = ManualClock(Sample.start)
  /// The engines that were opened; the suite closes them when the check has ended, however it ended.
  let handles = OpenHandles()

  /// Random numbers that depend on the seed and the check alone.
  func generator() -> SeededGenerator { SeededGenerator(seed: seed, name: check) }

  /// Opens the store called `store` of this check.
  func open(store: String = "store", overrides: [String: OptionValue] = [:]) async throws -> any StorageEngine {
    let name = "\(check)/\(store)"
    let configuration = try subject.configuration(store: name, overrides: overrides, clock: clock)
    let engine = try await subject.plugin.open(configuration)
    handles.add(engine)
    return engine
  }

  /// Closes `engine` and opens the store called `store` again.
  func reopen(_ engine: any StorageEngine, store: String = "store") async throws -> any StorageEngine {
    try await engine.close()
    return try await open(store: store)
  }
}

/// The engines that a check opened.
final class OpenHandles: Sendable {
  private let engines = Mutex<[any StorageEngine]>([])

  /// The engines, the first opened first.
  var all: [any StorageEngine] { engines.withLock { $0 } }

  /// Remembers `engine`.
  func add(_ engine: any StorageEngine) { engines.withLock { $0.append(engine) } }
}
