internal import FetchVocabulary
internal import ResponseStorage
internal import StorageBenchmark
internal import StorageSPI

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
    var (hits, hitBytes) = (0, 0)
    for number in trace.lookUps {
      if Task.isCancelled { throw .cancelled }
      clock.tick()
      let (key, bytes) = (keys[Int(number)], trace.sizes[Int(number)])
      if try await store.read(key, { _, _ in true }) != nil {
        store.countLookUp(key)
        (hits, hitBytes) = (hits + 1, hitBytes + bytes)
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
