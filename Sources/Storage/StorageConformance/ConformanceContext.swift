internal import StorageSPI
internal import Synchronization

/// The input of a check: the engine to open, a clock, and random numbers.
struct ConformanceContext: Sendable {
  /// The engine under test.
  let subject: ConformanceSubject
  /// The name of the check, which is part of its stores' names.
  let check: String
  /// The seed of the run.
  let seed: UInt64
  /// A number unique to this run, for the names of stores: two runs may use one server at the same time.
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
  /// Empties the check's stores that differ only in name: removing a folder does not remove them.
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
