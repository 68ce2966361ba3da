internal import EngineAPI
internal import EngineBenchmark
internal import LMDBStorage
internal import MemoryStorage
internal import ResponseCache
internal import SQLiteStorage

/// The cost of one call of the front door, and of the engine alone, by a task on no actor and by the main actor.
///
/// All engines, calls and callers are measured in one process, so that their costs can be compared. Limits and durability
/// are the defaults.
struct CallCosts {
  /// About a hundred bytes of JSON.
  private struct Line: Codable {
    let number: Int
    var name = "Ann"
    var text = "enough text to make this line about a hundred bytes long"
  }

  private typealias Value = [Line]
  private typealias Body = @Sendable (CallCosts, Entry) async throws -> Void

  /// The key of an entry, as a program and as an engine knows it.
  private struct Entry {
    let text: String
    let key: CacheKey
  }

  private enum Before {
    /// There is no entry.
    case absent
    /// There is an entry that this process has not read, whose value has as many lines.
    case stored(lines: Int)
    /// There is one that this process has read, and nothing has changed since.
    case kept
  }

  private static let (rounds, callsInRound) = (11, 100)
  /// A value is known to be unchanged when it is read for the third time, or for the fourth if the table is full.
  private static let readsOfKept = 4

  /// The measured calls, each of which gets another entry each time.
  private static let calls: [(name: String, before: Before, body: Body)] = [
    ("engine: `apply`, 100 bytes", .absent, { try await $0.engine.apply($0.batch([$1])) }),
    ("engine: `read`, 100 bytes", .stored(lines: 1), { try await $0.readPlainly($1) }),
    ("`cache.set`, 100 bytes", .absent, { try await $0.cache.set([Line(number: 1)], for: $1.text) }),
    ("`cache.value`, first read of 100 bytes", .stored(lines: 1), { try await $0.read($1) }),
    ("`cache.value`, first read of 3 KB", .stored(lines: 30), { try await $0.read($1) }),
    ("`cache.value`, first read of 30 KB", .stored(lines: 300), { try await $0.read($1) }),
    ("`cache.value`, read again", .kept, { try await $0.read($1) }),
    ("`cache.value`, no entry", .absent, { _ = try await $0.cache.value(Value.self, for: $1.text) }),
    (
      "`cache.value(for:orFetch:)`, miss", .absent,
      { _ = try await $0.cache.value(for: $1.text) { [Line(number: 1)] } }
    ),
    ("resource, miss, `.off`", .absent, { _ = try await $0.alone($1.text) }),
    ("resource, miss, `.withinProcess`", .absent, { _ = try await $0.inProcess($1.text) }),
    ("resource, miss, `.acrossProcesses`", .absent, { _ = try await $0.shared($1.text) }),
  ]

  private let cache: Cache
  /// Over a separate store: a commit through one handle slows down the other.
  private let engine: any StorageEngine
  private let alone, inProcess, shared: Resource<String, Value>

  private init(_ place: StorageLocation, _ other: StorageLocation) async throws {
    cache = try await Cache(place)
    engine = try await other.open(clock: SystemWallClock())
    let fetch: @Sendable (String) async throws -> Value = { _ in [Line(number: 1)] }
    alone = try cache.resource("alone", singleFlight: .off, fetch: fetch)
    inProcess = try cache.resource("inprocess", singleFlight: .withinProcess, fetch: fetch)
    shared = try cache.resource("shared", fetch: fetch)
  }

  /// Prints a row for each call: for each engine and caller the microseconds that one call takes, which are the median of a
  /// round, in the fastest round.
  ///
  /// - Parameter directory: the directory for the stores.
  static func run(_ directory: String, divisor: Int) async throws {
    var engines: [CallCosts] = []
    for (place, other) in [
      (.memory, .memory), (.sqlite(path: "\(directory)/cache.sqlite"), .sqlite(path: "\(directory)/engine.sqlite")),
      (.lmdb(path: "\(directory)/cache"), .lmdb(path: "\(directory)/engine")),
    ] as [(StorageLocation, StorageLocation)] {
      engines.append(try await CallCosts(place, other))
    }
    for call in calls.indices {
      var best: [UInt64] = []
      for round in 0..<max(2, rounds / divisor) {
        var medians: [UInt64] = []
        for engine in engines {
          let (count, prefix) = (max(1, callsInRound / divisor), "\(call)-\(round)")
          medians.append(try await engine.median(call, try await engine.prepare(call, "\(prefix)-none", count)))
          medians.append(
            try await engine.medianOnMainActor(call, try await engine.prepare(call, "\(prefix)-main", count)))
        }
        best = best.isEmpty ? medians : zip(best, medians).map { min($0, $1) }
      }
      print("| \(calls[call].name) |", best.map(Self.microseconds).joined(separator: " | "), "|")
    }
    for costs in engines {
      try await costs.engine.close()
      try await costs.cache.close()
    }
  }

  /// Entries as the call needs them.
  private func prepare(_ call: Int, _ prefix: String, _ count: Int) async throws -> [Entry] {
    let entries = try (0..<count).map { number in
      let text = "\(prefix)-\(number)"
      return Entry(text: text, key: try CacheKey("values/v1/key=\(text)"))
    }
    let lines =
      switch Self.calls[call].before {
      case .absent: 0
      case .stored(let lines): lines
      case .kept: 1
      }
    guard lines > 0 else { return entries }
    try await engine.apply(batch(entries))
    let value = (0..<lines).map { Line(number: $0) }
    try await cache.set(Dictionary(uniqueKeysWithValues: entries.map { ($0.text, value) }))
    if case .kept = Self.calls[call].before {
      for _ in 0..<Self.readsOfKept { for entry in entries { try await read(entry) } }
    }
    return entries
  }

  /// As a task calls that is on no actor.
  @concurrent
  private func median(_ call: Int, _ entries: [Entry]) async throws -> UInt64 {
    try await measured(Self.calls[call].body, entries)
  }

  @MainActor
  private func medianOnMainActor(_ call: Int, _ entries: [Entry]) async throws -> UInt64 {
    try await measured(Self.calls[call].body, entries)
  }

  /// Runs on the caller's actor, and so does `body` until it leaves it.
  private func measured(_ body: Body, _ entries: [Entry]) async throws -> UInt64 {
    var times: [UInt64] = []
    for entry in entries {
      let start = BenchmarkProbe.system.now()
      try await body(self, entry)
      times.append(BenchmarkProbe.system.now() - start)
    }
    return times.sorted()[times.count / 2]
  }

  private func read(_ entry: Entry) async throws {
    guard try await cache.value(Value.self, for: entry.text) != nil else { throw EntryMissing(key: entry.text) }
  }

  private func readPlainly(_ entry: Entry) async throws {
    let isThere = try await engine.read(entry.key) { payload, _ throws(CacheError) in !payload.isEmpty }
    guard isThere == true else { throw EntryMissing(key: entry.text) }
  }

  private func batch(_ entries: [Entry]) -> WriteBatch {
    var batch = WriteBatch()
    for entry in entries {
      let metadata = EntryMetadata(
        storedAt: FixedClock().now, freshUntil: .distantFuture, retainUntil: .distantFuture,
        contentType: "application/json")
      batch.put(entry.key, payload: Array(repeating: 7, count: 100), metadata: metadata)
    }
    return batch
  }

  private static func microseconds(_ nanoseconds: UInt64) -> String {
    let tenths = (nanoseconds + 50) / 100
    return nanoseconds < 10_000 ? "\(tenths / 10).\(tenths % 10)" : "\((nanoseconds + 500) / 1_000)"
  }
}
