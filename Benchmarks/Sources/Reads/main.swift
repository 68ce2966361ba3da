internal import LMDBStorage
internal import MemoryStorage
internal import Platform
internal import SQLiteStorage
internal import StorageSPI
internal import Synchronization

// Reads of entries of 100 bytes from one thread, and from two at once. Arguments:
//   ENGINE ENTRIES READS FOLDER   ENGINE is memory, sqlite or lmdb; the store is made in FOLDER
// It prints a row of a Markdown table: thousands of reads a second from one thread and from both together, and their
// ratio. Each is the rate of the fastest tenth of windows of 1,000 reads that begin at once in each thread: on a busy
// machine the others say when a thread had to wait for a processor.

/// The number of reads of a thread in one window.
let windowSize = 1_000

/// Lets threads begin their windows at once, and counts the entries that were found.
final class Windows: Sendable {
  private let arrivals = Atomic<Int>(0)
  private let misses = Atomic<Int>(0)

  var missing: Int { misses.load(ordering: .relaxed) }

  /// Reads in as many windows as `reads` allows, and returns when each began and ended, in nanoseconds.
  func run(
    _ engine: any ImmediateReading, _ keys: [[UInt8]], reads: Int, thread: Int, of threads: Int
  ) -> [(start: Int64, end: Int64)] {
    var number = UInt64(thread + 1)
    return (0..<reads / windowSize).map { window in
      arrivals.add(1, ordering: .sequentiallyConsistent)
      while arrivals.load(ordering: .sequentiallyConsistent) < (window + 1) * threads {}
      let start = Self.time
      for _ in 0..<windowSize {
        number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let key = keys[Int(number >> 33) % keys.count]
        if !Self.isFound(key, engine) { misses.add(1, ordering: .relaxed) }
      }
      return (start, Self.time)
    }
  }

  private static func isFound(_ key: [UInt8], _ engine: any ImmediateReading) -> Bool {
    do { return try engine.readNow(keyBytes: key.span) { _, _ in } } catch { return false }
  }

  private static var time: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

struct EntryMissing: Error {}

/// Reads a second from `threads` threads.
func rate(_ engine: any ImmediateReading, _ keys: [[UInt8]], reads: Int, threads: Int) throws -> Double {
  let windows = Windows()
  let found = Mutex<[[(start: Int64, end: Int64)]]>([])
  let others = try (0..<threads).map { thread in
    try SystemThread.start {
      let times = windows.run(engine, keys, reads: reads, thread: thread, of: threads)
      found.withLock { $0.append(times) }
    }
  }
  for thread in others { thread.join() }
  if windows.missing > 0 { throw EntryMissing() }
  let times = found.withLock { $0 }
  let lengths = times[0].indices.map { window in
    times.reduce(Int64.min) { max($0, $1[window].end) } - times.reduce(Int64.max) { min($0, $1[window].start) }
  }
  let fastest = lengths.sorted()[lengths.count / 10]
  return Double(threads * windowSize) / Double(fastest) * 1e9
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

func measure(_ name: String, entries: Int, reads: Int, in folder: String) async throws {
  let engine = try await open(name, folder + "/store")
  guard let reading = engine as? any ImmediateReading else { throw EntryMissing() }
  let keys = try (0..<entries).map { try CacheKey("url/v1/\(1_000_000_000 + $0)") }
  let end = Timestamp.distantFuture
  for start in stride(from: 0, to: entries, by: 1_000) {
    var batch = WriteBatch()
    for key in keys[start..<min(start + 1_000, entries)] {
      let metadata = EntryMetadata(storedAt: end, freshUntil: end, retainUntil: end, contentType: "application/json")
      batch.put(key, payload: [UInt8](repeating: 7, count: 100), metadata: metadata)
    }
    try await engine.apply(batch)
  }
  let bytes = keys.map { Array($0.text.utf8) }
  _ = try rate(reading, bytes, reads: reads, threads: 2)
  let one = try rate(reading, bytes, reads: reads, threads: 1)
  let two = try rate(reading, bytes, reads: reads, threads: 2)
  try await engine.close()
  print("| \(name), \(entries) | \(Int(one / 1_000)) | \(Int(two / 1_000)) | \(Int(two / one * 100 + 0.5)) % |")
}

let arguments = CommandLine.arguments
if arguments.count == 5, let entries = Int(arguments[2]), let reads = Int(arguments[3]) {
  try await measure(arguments[1], entries: entries, reads: reads, in: arguments[4])
} else {
  print("ENGINE ENTRIES READS FOLDER needed")
}
