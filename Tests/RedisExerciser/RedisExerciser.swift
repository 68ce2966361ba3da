import Platform
import RedisStorage
import CacheCore
import StorageSPI
import Synchronization

/// Writes to a store that must not exceed its bounds, until the process gets SIGTERM. A test runs several of them at once.
///
///     RedisExerciser ENGINE URL PREFIX MAX-ENTRIES MAX-BYTES SEED
///
/// It prints a line when the store is open, and one with the numbers of writes and of evictions at the end.
@main
enum RedisExerciser {
  private static let isOver = Atomic(false)

  static func main() async {
    do throws(CacheError) {
      try await run(try Arguments(CommandLine.arguments))
    } catch {
      say("ERROR \(error)")
      exit(1)
    }
  }

  private static func run(_ arguments: Arguments) async throws(CacheError) {
    signal(SIGTERM) { _ in RedisExerciser.isOver.store(true, ordering: .relaxed) }
    let store = try await arguments.openStore()
    say("OPEN")
    var (random, writes) = (SeededGenerator(seed: arguments.seed), 0)
    while !isOver.load(ordering: .relaxed) {
      try await storeEntry(arguments, store, &random)
      writes += 1
    }
    try await store.close()
    say("END \(writes) \(store.uses.counts.evictions)")
  }

  /// Stores a new entry, or sometimes replaces one. On average the entries have such sizes that both bounds matter.
  private static func storeEntry(
    _ arguments: Arguments, _ store: EntryStore, _ random: inout SeededGenerator
  ) async throws(CacheError) {
    let key = try CacheKey("cities/\(Int.random(in: 0..<4 * arguments.maxEntries, using: &random))")
    let size = Int.random(in: 1..<2 * arguments.maxBytes / arguments.maxEntries, using: &random)
    let now = SystemClock().now
    let end = now.advanced(by: .seconds(7 * 86_400))
    let metadata = EntryMetadata(storedAt: now, freshUntil: end, retainUntil: end, contentType: "text/plain")
    try await store.write(key, payload: [UInt8](repeating: 120, count: size), metadata: metadata)
  }

  /// Prints a line at once, also where the output is no terminal.
  private static func say(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
  }
}

/// What the process was told to do.
private struct Arguments {
  let maxEntries: Int
  let maxBytes: Int
  let seed: UInt64
  private let engine: String
  private let url: String
  private let prefix: String

  init(_ words: [String]) throws(CacheError) {
    guard words.count == 7, let maxEntries = Int(words[4]), let maxBytes = Int(words[5]), let seed = UInt64(words[6])
    else { throw CacheError(.failed, "usage: RedisExerciser ENGINE URL PREFIX MAX-ENTRIES MAX-BYTES SEED") }
    (engine, url, prefix) = (words[1], words[2], words[3])
    (self.maxEntries, self.maxBytes, self.seed) = (maxEntries, maxBytes, seed)
  }

  /// The store, with its bounds. The server has ten minutes for each answer: a busy machine is no failure.
  func openStore() async throws(CacheError) -> EntryStore {
    let plugin = engine == "redis" ? RedisPlugin() : RedisPlugin(.cluster)
    let patience = OptionValue.integer(600_000)
    let values = [
      "url": OptionValue.text(url), "prefix": .text(prefix), "timeout": patience, "connectTimeout": patience,
    ]
    let engine = try await plugin.open(
      EngineConfiguration(for: plugin.declaration, values: values, clock: SystemClock()))
    let limits = StoreLimits(maxEntries: maxEntries, maxBytes: maxBytes)
    return EntryStore(engine: engine, clock: SystemClock(), limits: limits, capabilities: [.expiring], decoded: .none)
  }
}

/// The time of day.
private struct SystemClock: WallClock {
  var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
  }
}
