internal import LMDBStorage
internal import LibraryStorage
internal import MemoryStorage
internal import CacheBase
internal import RedisStorage
internal import ResponseCache
internal import SQLiteStorage
internal import EngineBenchmark
internal import EngineAPI

// The project's side of the tables. Arguments:
//   run ENGINE WORKLOAD STORE DIVISOR   does a workload through `any StorageEngine`; ENGINE is sqlite, lmdb, memory, redis
//                                       (STORE is its URL), tiered (a local LMDB store in front of SQLite) or the path of a
//                                       library with an engine that has LMDB's options. With URL#PATH, redis and tiered
//                                       have copies in a local LMDB store at PATH
//   trace WORKLOAD FILE DIVISOR         writes the workload for the programs in Floor
//   calls DIRECTORY DIVISOR             prints the microseconds of one call of the front door by each kind of caller, with
//                                       memory, SQLite and LMDB, whose stores are in DIRECTORY
//   hits TRACE CAPACITY                 prints the hit ratios of a generated trace in a cache of CAPACITY entries: of exact
//                                       LRU, and of the policies lru and s3-fifo

let arguments = Array(CommandLine.arguments.dropFirst())
do {
  switch (arguments.first, arguments.count, arguments.last.flatMap { Int($0) }) {
  case ("run", 5, let divisor?): try await run(arguments[2], Store(engine: arguments[1], path: arguments[3]), divisor)
  case ("trace", 4, let divisor?):
    try StoreWorkload(named: arguments[1], divisor: divisor).write(to: arguments[2])
  case ("calls", 3, let divisor?): try await CallCosts.run(arguments[1], divisor: divisor)
  case ("hits", 3, let capacity?):
    let trace = try GeneratedTrace(named: arguments[1])
    print("exact", trace.leastRecentlyUsedHitRatio(capacity: capacity))
    for policy in ["lru", "s3-fifo"] { print(policy, try await trace.hitRatio(policy, capacity: capacity)) }
  default: throw Failed("run, trace, calls or hits needed")
  }
} catch {
  let line = Array("Driver: \(error)\n".utf8)
  _ = write(STDERR_FILENO, line, line.count)
  exit(1)
}

func run(_ name: String, _ store: Store, _ divisor: Int) async throws {
  if name == "create" { return try await store.open().close() }
  if let typed = TypedHits.Kind(rawValue: name) { return try await TypedHits.run(typed, store, divisor: divisor) }
  if let calls = DoorCalls.Kind(rawValue: name) { return try await DoorCalls.run(calls, store, divisor: divisor) }
  if let calls = RedisCalls.Kind(rawValue: name) { return try await RedisCalls.run(calls, store, divisor: divisor) }
  try await StoreWorkload(named: name, divisor: divisor).run(store)
}

/// The error of a request that the program cannot fulfill.
struct Failed: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}

/// A clock that stands still in the year 2100, while all entries are fresh: a Redis server drops none by its own clock.
struct FixedClock: WallClock {
  let now = Timestamp(milliseconds: 4_102_444_800_000)
}

/// Which store is worked on. Its commits do not wait for the disk: SQLite's are `normal`, LMDB's `relaxed`. A store in
/// memory has no path.
struct Store {
  /// How much the local store of `tiered` can hold.
  static let limits = StoreLimits(maxEntries: 1_000_000, maxBytes: 1 << 30)

  let location: StorageLocation
  /// Whether `local` is in front of it.
  let isTiered: Bool
  let local: StorageLocation

  init(engine: String, path: String) throws {
    let words = path.split(separator: "#").map(String.init)
    isTiered = engine == "tiered"
    local = .lmdb(path: words.count > 1 ? words[1] : path + ".local", durability: .relaxed)
    location =
      switch engine {
      case "memory": .memory
      case "lmdb": .lmdb(path: path, durability: .relaxed)
      case "sqlite": .sqlite(path: path, durability: .normal)
      case "tiered" where words.count > 1:
        StorageLocation(
          TieredLayer(over: RedisPlugin(), local: local, limits: Self.limits), ["url": .text(words[0])])
      case "tiered":
        StorageLocation(
          TieredLayer(over: SQLitePlugin(), local: local, limits: Self.limits), ["path": .text(path)])
      case "redis": .redis(url: words[0])
      case _ where engine.hasPrefix("/"):
        StorageLocation(try LibraryPlugin(loading: engine), ["path": .text(path), "durability": .text("relaxed")])
      default: throw Failed("there is no engine '\(engine)'")
      }
  }

  func open() async throws(CacheError) -> any StorageEngine { try await location.open(clock: FixedClock()) }
}

/// The time that passes, and the processor time that the process uses, from its making to `end`.
struct Measured {
  private let start = (BenchmarkProbe.system.now(), BenchmarkProbe.system.processorNanoseconds())
  private var cost: (elapsed: UInt64, processor: UInt64) = (0, 0)

  /// Ends the measurement.
  mutating func end() {
    let probe = BenchmarkProbe.system
    cost = (probe.now() - start.0, probe.processorNanoseconds() - start.1)
  }

  /// Prints the line that `compare` reads: the nanoseconds that an operation took, its processor time in nanoseconds,
  /// and the sum of all bytes read.
  func print(operations: Int, sum: UInt64) {
    Swift.print(Double(cost.elapsed) / Double(operations), Double(cost.processor) / Double(operations), sum)
  }
}
