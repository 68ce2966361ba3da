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
  /// A number that no other run has, in the names of stores: two runs may use one server at once.
  let run: UInt64
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
  /// Empties the stores that the check has opened, where they have only a name: no folder goes with them.
  func removeWhatIsLeft() async throws {
    guard subject.hasNamedStores else { return }
    for store in handles.stores {
      let engine = try await open(store: store)
      while true {
        let left = try await engine.scan(KeyRange(), limit: 1_000)
        if left.isEmpty { break }
        var batch = WriteBatch()
        for summary in left { batch.remove(summary.key) }
        try await engine.apply(batch)
      }
      try await engine.close()
    }
  }
}

/// The engines that a check opened.
final class OpenHandles: Sendable {
  private let opened = Mutex<[(engine: any StorageEngine, store: String)]>([])

  /// The engines, the first opened first.
  var all: [any StorageEngine] { opened.withLock { $0.map(\.engine) } }

  /// The names of the stores that were opened.
  var stores: Set<String> { opened.withLock { Set($0.map(\.store)) } }

  /// Remembers `engine`, which has the store called `store` open.
  func add(_ engine: any StorageEngine, of store: String) { opened.withLock { $0.append((engine, store)) } }
}
