internal import FetchVocabulary
internal import LMDBStorage
internal import MemoryStorage
internal import Platform
internal import ResponseStorage
internal import SQLiteStorage
internal import StorageSPI
internal import Synchronization

// Writes to a store at its limit, beside batches of one put and one removal in a store that is not. Arguments:
//   ENGINE ENTRIES PUTS FOLDER   ENGINE is memory, sqlite or lmdb; the stores are made in FOLDER
// It prints a row of a Markdown table, in microseconds: the mean processor time of a put on both sides and their ratio, the
// longest time of one on both sides, and how many entries the full store holds in the end.

/// Each call is a millisecond later, as in a store that lives for some time.
final class AdvancingClock: WallClock {
  private let milliseconds = Atomic<Int64>(1_767_225_600_000)
  var now: Timestamp { Timestamp(milliseconds: milliseconds.add(1, ordering: .relaxed).newValue) }
}

/// A store with what was measured on it.
struct Side {
  static let payload = [UInt8](repeating: 7, count: 1_000)

  let store: EntryStore
  let engine: any StorageEngine
  let isFull: Bool
  var processorTime: Int64 = 0
  var longest: Int64 = 0
  var next: Int

  init(_ engine: any StorageEngine, entries: Int, isFull: Bool) async throws {
    let clock = AdvancingClock()
    self.engine = engine
    self.isFull = isFull
    store = EntryStore(
      engine: engine, clock: clock,
      limits: StoreLimits(maxEntries: isFull ? entries : 1 << 40, maxBytes: 1 << 50), decoded: .none)
    next = entries
    for start in stride(from: 0, to: entries, by: 1_000) {
      var batch = WriteBatch()
      for number in start..<min(start + 1_000, entries) {
        batch.put(try Self.key(number), payload: Self.payload, metadata: Self.metadata(clock.now))
      }
      try await engine.apply(batch)
    }
  }

  static func key(_ number: Int) throws -> CacheKey {
    let digits = String(UInt64(number) &* 0x9E37_79B9_7F4A_7C15, radix: 16)
    return try CacheKey("url/v1/" + String(repeating: "0", count: 16 - digits.count) + digits)
  }

  static func metadata(_ now: Timestamp) -> EntryMetadata {
    let end = now.advanced(by: .seconds(7 * 86_400))
    return EntryMetadata(storedAt: now, freshUntil: end, retainUntil: end, contentType: "application/json")
  }

  /// Puts `count` entries. A store that is not full also removes the oldest entry with each.
  mutating func put(_ count: Int, entries: Int, isMeasured: Bool = true) async throws {
    let start = time(CLOCK_PROCESS_CPUTIME_ID)
    for _ in 0..<count {
      var batch = WriteBatch()
      if !isFull { batch.remove(try Self.key(next - entries)) }
      let key = try Self.key(next)
      next += 1
      let before = time(CLOCK_MONOTONIC)
      try await store.write(key, payload: Self.payload, metadata: Self.metadata(store.clock.now), with: batch)
      if isMeasured { longest = max(longest, time(CLOCK_MONOTONIC) - before) }
    }
    if isMeasured { processorTime += time(CLOCK_PROCESS_CPUTIME_ID) - start }
  }

  private func time(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

func open(_ name: String, _ path: String) async throws -> any StorageEngine {
  let location =
    switch name {
    case "memory": StorageLocation.memory
    case "lmdb": StorageLocation.lmdb(path: path, durability: .relaxed)
    default: StorageLocation.sqlite(path: path)
    }
  return try await location.open(clock: SystemWallClock())
}

func measure(_ engine: String, entries: Int, puts: Int, in folder: String) async throws {
  let rounds = 20
  var room = try await Side(try await open(engine, folder + "/room"), entries: entries, isFull: false)
  var full = try await Side(try await open(engine, folder + "/full"), entries: entries, isFull: true)
  try await room.put(min(2_000, puts), entries: entries, isMeasured: false)
  try await full.put(min(2_000, puts), entries: entries, isMeasured: false)
  for _ in 0..<rounds {
    try await room.put(puts / rounds, entries: entries)
    try await full.put(puts / rounds, entries: entries)
  }
  let held = try await full.engine.statistics().entries
  try await room.engine.close()
  try await full.engine.close()
  let means = [room, full].map { Double($0.processorTime) / Double(puts / rounds * rounds) / 1_000 }
  print(
    "| \(engine), \(entries) | \(text(means[0])) | \(text(means[1])) | \(text(means[1] / means[0])) |"
      + " \(room.longest / 1_000) | \(full.longest / 1_000) | \(held) |")
}

/// A number with two places.
func text(_ number: Double) -> String {
  let hundredths = String(Int(number * 100 + 0.5) % 100 + 100).dropFirst()
  return "\(Int(number * 100 + 0.5) / 100).\(hundredths)"
}

let arguments = CommandLine.arguments
if arguments.count == 5, let entries = Int(arguments[2]), let puts = Int(arguments[3]) {
  try await measure(arguments[1], entries: entries, puts: puts, in: arguments[4])
} else {
  print("ENGINE ENTRIES PUTS FOLDER needed")
}
