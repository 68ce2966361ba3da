internal import StorageSPI

/// The calls that a pipeline may answer. What it does not answer goes to a thread of the engine's own.
extension RedisEngine {
  /// How many operations and bytes a batch in a pipeline has at most: a larger one is worth a thread.
  private static let (operationLimit, byteLimit) = (16, 8_192)

  /// The entry under `key`; `nil` if there is none.
  func entry(_ key: CacheKey) async throws(CacheError) -> RedisStoredEntry? {
    try lanes.admit()
    defer { lanes.leave() }
    var attempt: RedisAttempt?
    if let reply = await pipelines.answer(store.reading(key), &attempt) { return try store.entry(key, in: reply.value) }
    return try await run(about: store.layout.part(of: key), after: attempt, isAdmitted: true) {
      store throws(CacheError) in try store.entry(key)
    }
  }

  /// Applies `batch`, and returns how many unexpired entries it has evicted.
  func apply(_ batch: WriteBatch, _ eviction: RedisEviction?) async throws(CacheError) -> Int {
    guard !store.layout.isSpread, !pipelines.areUnused, Self.isSmall(batch) else {
      let batch = try RedisBatch(batch)
      return try await run(about: batch.part(store.layout)) { store throws(CacheError) in
        try store.apply(batch, evicting: eviction)
      }
    }
    try lanes.admit()
    defer { lanes.leave() }
    store.ahead.clear()
    defer { store.ahead.clear() }
    let mode = RedisApplication.Mode.apply(batch.bounds.map { RedisBounds(bounds: $0) }, evicting: eviction)
    let application = store.application(try RedisBatch(batch), part: 0, mode)
    var attempt: RedisAttempt?
    var reply = await pipelines.answer(try application.firstRequest(store.options), &attempt)
    if reply?.value.isNil == true {
      reply = await pipelines.answer(try application.request(store.options), &attempt)
    }
    if let verdict = reply.flatMap({ application.verdict($0.value) }), case .done = verdict.outcome {
      store.writers.settle(application)
      return verdict.evictions
    }
    // The server judges anew what it has not done, and knows by its name what it has.
    return try await run(about: 0, after: attempt, isAdmitted: true) { store throws(CacheError) in
      try store.apply([application])
    }
  }

  private static func isSmall(_ batch: WriteBatch) -> Bool {
    guard (1...operationLimit).contains(batch.operations.count) else { return false }
    var bytes = 0
    for case .put(_, let payload, _) in batch.operations { bytes += payload.count }
    return bytes <= byteLimit
  }
}
