import Platform
import RedisStorage
import StorageSPI

/// Measures the throughput of one process with a server or a cluster:
///
///     swift run -c release --package-path Plugins/Redis --scratch-path .build/redis redis-throughput redis redis://127.0.0.1:6379
///
/// The arguments are the engine's name and the URL. The store is called "throughput", and is empty afterwards. With a
/// number of entries as third argument it measures writers to a store that is full with so many; the two stores for that
/// stay, and should be on a server of their own. With the path of an empty folder it measures the layer `tiered`, which
/// leaves the folder and a store behind. `figures URL` compares the engine `redis` with the plain commands GET and SET.
/// `scale URL URL [NODES [ENTRIES [SLOTS]]]` calculates what a large cluster costs: see docs/redis-at-scale.md.
@main
enum RedisThroughput {
  private static let entryCount = 10_000
  private static let payload = [UInt8](repeating: 120, count: 1_000)

  static func main() async throws {
    let arguments = CommandLine.arguments
    if arguments.count > 3, arguments[1] == "scale" { return try await Scale(arguments.dropFirst(2)).measure() }
    guard (3...4).contains(arguments.count) else {
      throw CacheError(
        .invalidOption,
        "usage: redis-throughput ENGINE URL [ENTRIES | FOLDER], figures URL, or scale URL URL [NUMBER]...")
    }
    if arguments[1] == "figures" { return try await Figures.measure(RedisPlugin(), url: arguments[2]) }
    let plugin: any StoragePlugin = arguments[1] == "redis" ? RedisPlugin() : RedisPlugin(.cluster)
    if arguments.count == 4 {
      guard let entries = Int(arguments[3]) else {
        return try await Tiers(plugin: plugin, url: arguments[2], folder: arguments[3]).measure()
      }
      return try await FullStore(plugin: plugin, url: arguments[2], entries: entries).measure()
    }
    let values = [
      "url": OptionValue.text(arguments[2]), "prefix": .text("throughput"), "connections": .integer(32),
    ]
    let engine = try await plugin.open(
      EngineConfiguration(for: plugin.declaration, values: values, clock: SystemClock()))
    for size in [1, 10, 100, 1_000] {
      try await measure("put, \(size) a batch", callers: 1, calls: entryCount / size) { number in
        try await engine.apply(try batch(from: number * size, count: size))
      }
    }
    for callers in [1, 4, 16, 32] {
      try await measure("put, one a batch", callers: callers, calls: entryCount) { number in
        try await engine.apply(try batch(from: number, count: 1))
      }
      try await measure("read", callers: callers, calls: entryCount) { number in
        _ = try await engine.read(try key(number)) { bytes, _ throws(CacheError) in bytes.count }
      }
    }
    try await measure("scan, 1,000 a page", callers: 1, calls: 20) { _ in
      _ = try await engine.scan(KeyRange(), limit: 1_000)
    }
    try await empty(engine)
    try await engine.close()
  }

  private static func key(_ number: Int) throws(CacheError) -> CacheKey { try CacheKey("cities/v1/page=\(number)") }

  private static func batch(from start: Int, count: Int) throws(CacheError) -> WriteBatch {
    var batch = WriteBatch()
    let now = SystemClock().now
    for number in start..<(start + count) {
      let metadata = EntryMetadata(
        storedAt: now, freshUntil: now.advanced(by: .seconds(60)), retainUntil: now.advanced(by: .seconds(3_600)),
        contentType: "application/json")
      batch.put(try key(number), payload: payload, metadata: metadata)
    }
    return batch
  }

  private static func measure(
    _ what: String, callers: Int, calls: Int, _ call: @escaping @Sendable (Int) async throws -> Void
  ) async throws {
    report("\(what), \(callers) at once: \(Int(try await rate(callers: callers, calls: calls, call))) calls a second")
  }

  /// Makes `calls` calls from `callers` tasks, and returns the calls per second.
  static func rate(
    callers: Int, calls: Int, _ call: @escaping @Sendable (Int) async throws -> Void
  ) async throws -> Double {
    let start = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for caller in 0..<callers {
        group.addTask {
          for number in stride(from: caller, to: calls, by: callers) { try await call(number) }
        }
      }
      try await group.waitForAll()
    }
    return Double(calls) / (start.duration(to: .now) / .seconds(1))
  }

  private static func empty(_ engine: any StorageEngine) async throws {
    while case let page = try await engine.scan(KeyRange(), limit: 1_000), !page.isEmpty {
      var batch = WriteBatch()
      for summary in page { batch.remove(summary.key) }
      try await engine.apply(batch)
    }
  }
}

/// Prints a line at once.
func report(_ line: String) {
  let bytes = Array("\(line)\n".utf8)
  _ = write(1, bytes, bytes.count)
}

struct SystemClock: WallClock {
  var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
  }
}
