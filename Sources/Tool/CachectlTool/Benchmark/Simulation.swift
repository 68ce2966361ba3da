internal import FetchVocabulary
internal import CacheCore
internal import EngineBenchmark
internal import EngineAPI
internal import CommandLineKit
internal import CachePresentation

/// Replays a trace through a cache in memory, once for each policy and size. The policies are those of the real cache,
/// and so is all that chooses what goes.
struct TraceSimulation: Sendable {
  /// The share of look-ups that one policy answers in a cache of one size.
  struct Result: Sendable {
    let policy: EvictionPolicy
    let size: CacheSize
    /// The most entries that the cache held, or the most bytes if the sizes of the values differ.
    let limit: Int
    let hits: Int
    let hitBytes: Int
  }

  /// A store holds the values of a trace with at most about as many bytes: larger values are scaled down with the limit.
  private static let maximumBytes = 64 << 20

  let trace: Trace
  let plugin: any StoragePlugin

  /// The number of bytes of a trace that stand for one byte of the store.
  private let scale: Int
  private let isUniform: Bool
  private let footprint: Int
  private let keys: [CacheKey]

  /// A simulation with stores of the engine `plugin`.
  init(_ trace: Trace, plugin: any StoragePlugin) throws(CacheError) {
    self.trace = trace
    self.plugin = plugin
    isUniform = trace.sizes.allSatisfy { $0 == trace.sizes.first }
    footprint = trace.footprint
    scale = isUniform ? max(1, trace.sizes.first ?? 1) : max(1, footprint / Self.maximumBytes)
    var keys: [CacheKey] = []
    keys.reserveCapacity(trace.keyCount)
    // Popular keys and new ones are anywhere in the order of keys, as in a store.
    for number in 0..<trace.keyCount {
      keys.append(try CacheKey("trace/" + String(UInt64(number) &* 0x9E37_79B9_7F4A_7C15, radix: 36)))
    }
    self.keys = keys
  }

  /// Replays the trace once.
  ///
  /// - Throws: `CacheError`: `cancelled` if the task is cancelled.
  func run(_ policy: EvictionPolicy, _ size: CacheSize) async throws(CacheError) -> Result {
    let clock = OperationClock(Timestamp(milliseconds: 0))
    let limit = max(1, isUniform ? size.entries(of: trace.keyCount, footprint: footprint) : size.bytes(of: footprint))
    let limits =
      isUniform
      ? StoreLimits(maxEntries: limit, maxBytes: .max, eviction: policy)
      : StoreLimits(maxEntries: .max, maxBytes: max(1, limit / scale), eviction: policy)
    let engine = try await plugin.open(EngineConfiguration(for: plugin.declaration, values: [:], clock: clock))
    let store = EntryStore(engine: engine, clock: clock, limits: limits)
    var hits = 0
    var hitBytes = 0
    for number in trace.lookUps {
      if Task.isCancelled { throw .cancelled }
      clock.tick()
      let key = keys[Int(number)]
      let bytes = trace.sizes[Int(number)]
      if try await store.read(key, { _, _ in true }) != nil {
        store.countLookUp(key)
        hits = hits + 1
        hitBytes = hitBytes + bytes
      } else {
        store.countLookUp(nil)
        try await add(key, bytes: bytes, to: store, at: clock.now)
      }
    }
    try await store.close()
    return Result(policy: policy, size: size, limit: limit, hits: hits, hitBytes: hitBytes)
  }

  /// Stores a value that was missing. One that the cache cannot hold is not stored.
  private func add(_ key: CacheKey, bytes: Int, to store: EntryStore, at now: Timestamp) async throws(CacheError) {
    do throws(CacheError) {
      try await store.write(
        key, payload: [UInt8](repeating: 0, count: (bytes + scale - 1) / scale),
        metadata: EntryMetadata(
          storedAt: now, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: ""))
    } catch {
      guard [.tooLarge, .overBounds].contains(error.code) else { throw error }
    }
  }
}

/// The size of a simulated cache: a share of the trace's values, or a number of bytes.
struct CacheSize: Sendable, Hashable {
  private enum Amount: Hashable {
    case share(Double)
    case bytes(Int)
  }

  /// The size as the user wrote it.
  let text: String
  private let amount: Amount

  /// Parses "5%", "0.1%" or "64MiB".
  init?(_ text: String) {
    self.text = text
    if text.hasSuffix("%") {
      guard let percent = Double(text.dropLast()), percent > 0, percent <= 100 else { return nil }
      amount = .share(percent / 100)
    } else {
      guard let count = ByteCount(argument: text), count.number > 0 else { return nil }
      amount = .bytes(count.number)
    }
  }

  /// How many of `count` values of the same size, with `footprint` bytes together, have room.
  func entries(of count: Int, footprint: Int) -> Int {
    switch amount {
    case .share(let share): Int((Double(count) * share).rounded())
    case .bytes(let bytes):
      footprint == 0 ? count : Int((Double(count) * Double(bytes) / Double(footprint)).rounded(.down))
    }
  }

  /// How many of `footprint` bytes have room.
  func bytes(of footprint: Int) -> Int {
    switch amount {
    case .share(let share): Int((Double(footprint) * share).rounded())
    case .bytes(let bytes): bytes
    }
  }
}

/// Sizes, separated by commas.
struct CacheSizeList: ExpressibleByArgument {
  /// What `simulate` takes without `--sizes`.
  static let standard = "1%,2%,5%,10%,20%,50%,90%"

  let sizes: [CacheSize]

  init?(argument: String) {
    let sizes = argument.split(separator: ",", omittingEmptySubsequences: false).map { CacheSize(String($0)) }
    guard !sizes.contains(nil) else { return nil }
    var distinct: [CacheSize] = []
    for case let size? in sizes where !distinct.contains(size) { distinct.append(size) }
    self.sizes = distinct
  }

  static var argumentExpectation: String? { "sizes such as 1%,5%,64MiB" }
}

/// Which share of a trace's look-ups each policy answers, by the size of the cache.
struct SimulationView: OutputView {
  /// The name of the trace.
  let name: String
  let lookUps: Int
  let keys: Int
  /// The bytes of all values.
  let footprint: Int
  /// The bytes of all look-ups' values.
  let bytes: Int
  /// The results, ordered by size, then by policy.
  let results: [TraceSimulation.Result]

  var columns: [String] { ["policy", "size", "limit", "hits", "hitRatio", "byteHitRatio"] }

  var records: [JSONValue] {
    results.map { result in
      [
        "policy": .string(result.policy.name), "size": .string(result.size.text), "limit": .integer(result.limit),
        "hits": .integer(result.hits), "hitRatio": .double(ratio(result)),
        "byteHitRatio": .double(bytes > 0 ? Double(result.hitBytes) / Double(bytes) : 0),
      ]
    }
  }

  var json: JSONValue {
    [
      "trace": .string(name), "lookUps": .integer(lookUps), "keys": .integer(keys), "bytes": .integer(footprint),
      "results": .array(records),
    ]
  }

  /// A row for each policy, a column for each size; the best of a column is marked. If the screen is too narrow, sizes in
  /// the middle are left out.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    let sizes = results.reduce(into: [CacheSize]()) { if !$0.contains($1.size) { $0.append($1.size) } }
    let policies = results.filter { $0.size == sizes.first }.map(\.policy)
    let best = sizes.map { size in results.filter { $0.size == size }.map(\.hits).max() }
    let rows = policies.map { policy in
      [Table.Cell(policy.name)]
        + results.filter { $0.policy == policy }.enumerated().map { index, result in
          Table.Cell(
            BenchmarkText.precisePercentage(ratio(result)), result.hits == best[index] ? .green : .plain)
        }
    }
    let columns = sizes.enumerated().map { index, size in
      Table.Column(size.text, .right, priority: index == 0 ? 0 : index + 1 - sizes.count)
    }
    return Table([.init("Policy")] + columns, rows: rows).text(on: screen, hasHeader: hasHeader)
  }

  var status: StatusLine? {
    StatusLine([
      name, NumberText.count(lookUps, "look-up", "look-ups"), NumberText.count(keys, "key", "keys"),
      "\(ByteCountText.text(footprint)) of values",
    ])
  }

  private func ratio(_ result: TraceSimulation.Result) -> Double { Double(result.hits) / Double(lookUps) }
}
