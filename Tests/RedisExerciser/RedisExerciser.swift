import CacheBase
import RedisStorage
import EngineAPI
import Synchronization

/// Changes and reads the entries of a store until the process gets SIGTERM. A test runs four of them at once.
///
///     RedisExerciser LEDGER URL NUMBER PROCESSES TIMEOUT
///
/// NUMBER is the number of the process, from 0, and TIMEOUT is in milliseconds. It prints a line for each impossible
/// read, and at the end one for each kind of failure.
@main
enum RedisExerciser {
  /// How many tasks use the connection of a process.
  private static let lanes = 3
  private static let isOver = Atomic(false)

  static func main() async {
    do throws(CacheError) {
      try await run(CommandLine.arguments)
    } catch {
      Exercise.say("ERROR \(error)")
      exit(1)
    }
  }

  private static func run(_ words: [String]) async throws(CacheError) {
    guard words.count == 6, let number = Int(words[3]), let processes = Int(words[4]), let timeout = Int64(words[5])
    else {
      throw CacheError(.failed, "usage: RedisExerciser LEDGER URL NUMBER PROCESSES TIMEOUT")
    }
    signal(SIGTERM) { _ in RedisExerciser.isOver.store(true, ordering: .relaxed) }
    let plugin = RedisPlugin()
    let values: [String: OptionValue] = [
      "url": .text(words[2]), "timeout": .integer(timeout), "connectTimeout": .integer(timeout),
    ]
    let engine = try await plugin.open(
      EngineConfiguration(for: plugin.declaration, values: values, clock: SystemClock()))
    let exercise = Exercise(engine: engine, ledger: try SharedLedger(words[1]))
    let failures = Failures()
    await withTaskGroup(of: Void.self) { group in
      for lane in 0..<lanes {
        group.addTask { await use(exercise, writer: number * lanes + lane, of: processes * lanes, failures) }
      }
    }
    try await engine.close()
    failures.say()
  }

  /// Changes the entries of the writer numbered `writer`, and reads all.
  private static func use(_ exercise: Exercise, writer: Int, of writers: Int, _ failures: Failures) async {
    let (ledger, parent) = (exercise.ledger, getppid())
    var random = SeededGenerator(seed: UInt64(ledger[.seed] + writer))
    var beliefs: [Int: Exercise.Belief] = [:]
    // It also ends with the test, however that ends.
    while !isOver.load(ordering: .relaxed), getppid() == parent {
      var entry = Int.random(in: 0..<ledger.entries, using: &random)
      let isChange = Bool.random(using: &random)
      if isChange { entry = entry / writers * writers + writer }
      guard entry < ledger.entries else { continue }
      do throws(CacheError) {
        if isChange {
          beliefs[entry] = try await exercise.change(entry, beliefs.removeValue(forKey: entry) ?? .unknown, &random)
        } else {
          try await exercise.read(entry)
        }
      } catch {
        ledger.add(.failures, entry)
        failures.note(error)
      }
    }
  }
}

/// The kinds of failures, with the first message of each.
private final class Failures: Sendable {
  private let kinds = Mutex<[CacheError.Code: (count: Int, message: String)]>([:])

  func note(_ error: CacheError) { kinds.withLock { $0[error.code, default: (0, error.message)].count += 1 } }

  func say() {
    for (code, kind) in kinds.withLock({ $0 }) {
      Exercise.say("FAILED \(kind.count) \(code.rawValue), such as: \(kind.message)")
    }
  }
}
