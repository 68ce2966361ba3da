internal import ResponseStorage
internal import StorageBenchmark
internal import StorageSPI

/// Reads entries through a cache that is full, and stores the missing ones.
struct BoundedReader: BenchmarkFetcher {
  private let target: BenchmarkStore
  private let store: EntryStore
  private let clock: OperationClock

  /// A reader over `target`, from which entries go by `policy`. No entry expires during the run, which begins at `now`.
  init(_ target: BenchmarkStore, now: Timestamp, _ policy: EvictionPolicy) {
    self.target = target
    clock = OperationClock(now)
    let limits = target.maximumEntries.map { StoreLimits(maxEntries: $0, eviction: policy) }
    store = EntryStore(engine: target.engine, clock: clock, limits: limits)
  }

  func fetch(_ number: Int, isStored: Bool) async throws(CacheError) -> BenchmarkAnswer {
    let (key, bytes) = (try target.key(number), target.bytes)
    clock.tick()
    if isStored {
      let found = try await store.read(key) { payload, _ throws(CacheError) in try bytes.isRight(number, payload) }
      store.countLookUp(found == nil ? nil : key)
      if let found { return found.value ? .hit : .wrong }
    }
    let now = clock.now
    let later = now.advanced(by: .seconds(365 * 86_400))
    try await store.write(
      key, payload: try bytes.encode(number),
      metadata: EntryMetadata(storedAt: now, freshUntil: later, retainUntil: later, contentType: "text/plain"))
    return .miss
  }
}
