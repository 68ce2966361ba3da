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

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    var kept: [CacheKey: RedisStoredEntry] = [:]
    for case .update(let key, _, _) in batch.operations { kept[key] = try await entry(key) }
    let batch = try RedisBatch(batch, keeping: kept)
    guard !store.layout.isSpread, !pipelines.areUnused, Self.isSmall(batch) else {
      return try await run(about: batch.part(store.layout)) { store throws(CacheError) in try store.apply(batch) }
    }
    try lanes.admit()
    defer { lanes.leave() }
    store.ahead.clear()
    defer { store.ahead.clear() }
    let mode = RedisApplication.Mode.apply(batch.bounds.map { RedisBounds(bounds: $0) })
    let application = store.application(batch, part: 0, mode)
    var attempt: RedisAttempt?
    var reply = await pipelines.answer(try application.firstRequest(store.options), &attempt)
    if reply?.value.isNil == true {
      reply = await pipelines.answer(try application.request(store.options), &attempt)
    }
    if let verdict = reply.flatMap({ application.verdict($0.value) }), case .done = verdict.outcome {
      store.writers.settle(application)
      return
    }
    // The server judges anew what it has not done, and knows by its name what it has.
    try await run(about: 0, after: attempt, isAdmitted: true) { store throws(CacheError) in
      try store.apply([application])
    }
  }

  private static func isSmall(_ batch: RedisBatch) -> Bool {
    (1...operationLimit).contains(batch.requirements.count + batch.changes.count) && batch.payloadBytes <= byteLimit
  }
}
