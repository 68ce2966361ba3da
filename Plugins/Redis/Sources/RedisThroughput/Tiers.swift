import LMDBStorage
import MemoryStorage
import Platform
import ResponseStorage
import StorageSPI

/// A near engine in front of the server: what an answer of near costs beside near alone, what one of far costs beside far
/// alone, and how long it takes until another machine's change is seen. Near is in a folder of its own.
struct Tiers {
  private static let entries = 10_000
  private static let payload = [UInt8](repeating: 120, count: 1_000)
  private static let rounds = 7

  let plugin: any StoragePlugin
  let url: String
  let folder: String

  func measure() async throws {
    for near in [LMDBPlugin(), MemoryPlugin()] as [any StoragePlugin] {
      try await measureNear(near)
      try await measureFar(near)
    }
    try await measureChanges()
  }

  private func values(_ prefix: String) -> [String: OptionValue] {
    ["url": .text(url), "prefix": .text("throughput-\(prefix)")]
  }

  private func tiered(_ near: any StoragePlugin, _ machine: String) async throws -> any StorageEngine {
    let layer = TieredLayer(over: plugin, near: near, folder: "\(folder)/\(machine)", nearMaxAge: .seconds(3_600))
    return try await layer.open(
      EngineConfiguration(for: plugin.declaration, values: values("tiers"), clock: SystemClock()))
  }

  /// Near alone and near in front of far, in turns.
  private func measureNear(_ near: any StoragePlugin) async throws {
    let name = near.declaration.name
    let hasPath = near.declaration.options.contains { $0.kind == .path }
    let alone = try await near.open(
      EngineConfiguration(
        for: near.declaration, values: hasPath ? ["path": .text("\(folder)/alone-\(name)")] : [:],
        clock: SystemClock()))
    let start = ContinuousClock.now
    for number in 0..<1_000 { try await alone.apply(try Self.batch(number..<number + 1, version: 1)) }
    report("\(name) alone: \(Self.rounded(start.duration(to: .now) / .milliseconds(1))) us a put")
    let tiered = try await tiered(near, "hits-\(name)")
    for start in stride(from: 0, to: Self.entries, by: 1_000) {
      let batch = try Self.batch(start..<start + 1_000, version: 1)
      try await alone.apply(batch)
      try await tiered.apply(batch)
    }
    // The first look makes far follow changes, the second one confirms each entry.
    for _ in 0..<3 {
      _ = try await time(tiered)
      try await Task.sleep(for: .milliseconds(500))
    }
    var (single, both) = ([Double](), [Double]())
    for _ in 0..<Self.rounds {
      single.append(try await time(alone))
      both.append(try await time(tiered))
    }
    let (first, second) = (single.sorted()[Self.rounds / 2], both.sorted()[Self.rounds / 2])
    let hits = await tiered.tierReporter?.tiers().map { "\($0.name) \($0.hits)" }.joined(separator: ", ") ?? ""
    report(
      "\(name) alone: \(Self.rounded(first)) us a read; as near: \(Self.rounded(second)) us, \(Self.rounded(second / first)) times; hits: \(hits)"
    )
    try await alone.close()
    try await tiered.close()
  }

  /// Far alone, and far answering for a near that has nothing.
  private func measureFar(_ near: any StoragePlugin) async throws {
    let name = near.declaration.name
    let far = try await plugin.open(
      EngineConfiguration(for: plugin.declaration, values: values("tiers"), clock: SystemClock()))
    var (single, both) = ([Double](), [Double]())
    for round in 0..<Self.rounds {
      let tiered = try await tiered(near, "misses-\(name)-\(round)")
      single.append(try await time(far))
      both.append(try await time(tiered))
      try await tiered.close()
    }
    let (first, second) = (single.sorted()[Self.rounds / 2], both.sorted()[Self.rounds / 2])
    report(
      "far alone: \(Self.rounded(first)) us a read; through \(name): \(Self.rounded(second)) us, with a put into it")
    try await far.close()
  }

  /// How long another machine's change takes.
  private func measureChanges() async throws {
    let (here, there) = (try await tiered(LMDBPlugin(), "here"), try await tiered(LMDBPlugin(), "there"))
    let key = try Self.key(0)
    var times: [Double] = []
    for version in 2..<1_002 {
      try await there.apply(try Self.batch(0..<1, version: UInt64(version)))
      let start = ContinuousClock.now
      while try await here.read(key, { _, metadata throws(CacheError) in metadata.checksum }) != UInt64(version) {}
      times.append(start.duration(to: .now) / .microseconds(1))
      // Near must answer before the next change, so that there is something to be told of.
      for _ in 0..<20 { _ = try await here.read(key) { _, _ throws(CacheError) in } }
    }
    times.sort()
    let hits = await here.tierReporter?.tiers().first?.hits ?? 0
    report(
      "another machine's change is seen after \(Self.rounded(times[500])) us, p99 \(Self.rounded(times[989])), longest \(Self.rounded(times[999])); near answered \(hits) times"
    )
    try await here.close()
    try await there.close()
  }

  /// The time of a read in microseconds.
  private func time(_ engine: any StorageEngine) async throws -> Double {
    let keys = try (0..<Self.entries).map { try Self.key($0) }
    let start = ContinuousClock.now
    for key in keys { _ = try await engine.read(key) { bytes, _ throws(CacheError) in bytes.count } }
    return start.duration(to: .now) / .microseconds(Self.entries)
  }

  private static func rounded(_ number: Double) -> Double { Double(Int(number * 100)) / 100 }

  private static func key(_ number: Int) throws(CacheError) -> CacheKey {
    try CacheKey("cities/v1/order=revenue/origin=sample/page=\(number)/sort=desc")
  }

  private static func batch(_ numbers: Range<Int>, version: UInt64) throws(CacheError) -> WriteBatch {
    var batch = WriteBatch()
    let now = SystemClock().now
    for number in numbers {
      batch.put(
        try key(number), payload: payload,
        metadata: EntryMetadata(
          storedAt: now, freshUntil: now.advanced(by: .seconds(3_600)), retainUntil: now.advanced(by: .seconds(7_200)),
          contentType: "application/json", checksum: version))
    }
    return batch
  }
}
