internal import EngineSupport
internal import StorageSPI

/// A store on one server or on a cluster, with tables or without. Every call waits in a pipeline or on a thread of the
/// engine's own, and ends soon after its task is cancelled.
final class RedisEngine: StorageEngine {
  let store: RedisStore
  let lanes: RedisLanes
  let pipelines: RedisPipelines
  private let clock: any WallClock
  private let follower: RedisFollower

  private init(_ store: RedisStore, clock: any WallClock) {
    (self.store, self.clock) = (store, clock)
    lanes = RedisLanes(count: store.options.connections)
    pipelines = RedisPipelines(store.router)
    follower = RedisFollower(store)
  }

  // The store was not closed: otherwise the threads would go on.
  deinit {
    follower.close()
    pipelines.close()
  }

  /// Connects, and checks that the store there is one of this engine.
  static func open(_ options: RedisOptions, clock: any WallClock) async throws(CacheError) -> RedisEngine {
    let engine = RedisEngine(RedisStore(options), clock: clock)
    do throws(CacheError) {
      try await engine.run { store throws(CacheError) in try store.checkFormat() }
    } catch {
      // Otherwise a thread would go on to ask for a server that is silent.
      engine.store.router.pool.close()
      throw error
    }
    return engine
  }

  /// Connects, and inspects the store.
  static func inspect(_ options: RedisOptions, clock: any WallClock) async throws(CacheError) -> StoreInspection {
    try await using(options, clock) { store throws(CacheError) in try store.inspect() }
  }

  /// Connects, and removes the store.
  static func removeStore(_ options: RedisOptions, clock: any WallClock) async throws(CacheError) {
    try await using(options, clock) { store throws(CacheError) in try store.removeAll() }
  }

  private static func using<Output: Sendable>(
    _ options: RedisOptions, _ clock: any WallClock,
    _ work: @escaping @Sendable (RedisStore) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    let engine = RedisEngine(RedisStore(options), clock: clock)
    defer { engine.store.router.pool.close() }
    return try await engine.run(work)
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    guard let entry = try await entry(key) else { return nil }
    return try entry.withPayload { bytes throws(CacheError) in try body(bytes, entry.metadata) }
  }

  func changeMark(of key: CacheKey) -> ChangeMark? { store.layout.isSpread ? nil : follower.mark(of: key) }

  func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    try await run { store throws(CacheError) in try store.scan(request) }
  }

  func count() async throws(CacheError) -> StoreCount {
    try await run { store throws(CacheError) in try store.storeCount() }
  }

  func check() async throws(CacheError) -> [IntegrityIssue] {
    try await run { store throws(CacheError) in try store.examine() }
  }

  func compact() async throws(CacheError) {
    let now = clock.now
    try await run { store throws(CacheError) in try store.compact(at: now) }
  }

  func close() async throws(CacheError) {
    follower.close()
    try await lanes.close()
    pipelines.close()
    store.router.pool.close()
  }

  /// Runs `work` on a thread of the engine's own.
  ///
  /// - Parameters:
  ///   - part: the part that it is about; `nil` if it is about several.
  ///   - attempt: what the call has tried before.
  ///   - isAdmitted: whether the lanes have admitted the call already.
  func run<Output: Sendable>(
    about part: Int? = nil, after attempt: RedisAttempt? = nil, isAdmitted: Bool = false,
    _ work: @escaping @Sendable (RedisStore) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    let patience = RedisPatience(store.options)
    let limited = store.limited(by: patience, after: attempt)
    let result = await withTaskCancellationHandler {
      do throws(CacheError) {
        return Result<Output, CacheError>.success(
          try await lanes.run(for: part.flatMap { store.router.topology.owner(of: $0) }, isAdmitted: isAdmitted) {
            () throws(CacheError) in try work(limited)
          })
      } catch {
        return .failure(error)
      }
    } onCancel: {
      patience.cancel()
    }
    return try result.get()
  }
}
