internal import StorageSPI

extension RedisStore {
  /// Makes all changes of `batch`, or none. On a cluster this holds for each part separately.
  ///
  /// Cost: a round trip, or two for a single entry if there is more to do than to store it; on a cluster one more if
  /// the bounds are near, and another if the batch spans several parts.
  func apply(_ batch: RedisBatch) throws(CacheError) {
    if layout.isSpread { return try spread(batch) }
    if batch.isEmpty, batch.bounds == nil { return }
    try apply([application(batch, part: 0, .apply(batch.bounds.map { RedisBounds(bounds: $0) }))])
  }

  /// Applies `batch` to `part`.
  func application(_ batch: RedisBatch, part: Int, _ mode: RedisApplication.Mode) -> RedisApplication {
    let name: RedisBatchName? = if case .apply = mode { writers.next() } else { nil }
    return RedisApplication(batch, part: part, mode, name: name, publisher: publisher)
  }

  /// Applies `applications`, each to another part, all at once.
  ///
  /// - Throws: `CacheError`: `conflict` or `overBounds` if one of them changed nothing for that reason.
  func apply(_ applications: [RedisApplication]) throws(CacheError) {
    for (application, verdict) in zip(applications, try verdicts(applications)) {
      switch (verdict.outcome, application.mode) {
      case (.conflict(let key), _): throw .conflict(on: key)
      case (.over, .apply(let bounds?)): throw .overBounds(bounds.bounds)
      default: continue
      }
    }
  }

  /// The verdicts on `applications`, in their order. If entries that the server has dropped may put one over its bounds,
  /// they are forgotten, and it is judged again.
  func verdicts(_ applications: [RedisApplication]) throws(CacheError) -> [RedisApplication.Verdict] {
    ahead.clear()
    var requests: [RedisRequest] = []
    for application in applications { requests.append(try application.firstRequest(options)) }
    // A scan must not continue with lines that were listed before or during this change.
    defer { ahead.clear() }
    var (verdicts, mayComeLate) = ([RedisApplication.Verdict](), false)
    for (application, reply) in zip(applications, try performMakingRoom(requests, &mayComeLate)) {
      verdicts.append(try verdict(on: application, reply, &mayComeLate))
    }
    if !mayComeLate { for application in applications { writers.settle(application) } }
    return verdicts
  }

  /// The verdict on `application` by `reply`. If more is to be done than to store an entry, or if entries that the server
  /// has dropped are in the way, it asks again.
  private func verdict(
    on application: RedisApplication, _ reply: RedisReply, _ mayComeLate: inout Bool
  ) throws(CacheError) -> RedisApplication.Verdict {
    func again() throws(CacheError) -> RedisApplication.Verdict? {
      let replies = try performMakingRoom([try application.request(options)], &mayComeLate)
      return replies.first.flatMap { application.verdict($0.value) }
    }
    var verdict = application.verdict(reply.value)
    if reply.value.isNil { verdict = try again() }
    if case .over = verdict?.outcome, verdict?.isStale == true, try tidy([application.part]) { verdict = try again() }
    guard let verdict else { throw router.undecodable("a batch has no verdict") }
    return verdict
  }

  /// The replies to `requests`. A server without room may have evicted entries whose lines are still in the index: then
  /// this forgets some of those lines, and asks again.
  private func performMakingRoom(
    _ requests: [RedisRequest], _ mayComeLate: inout Bool
  ) throws(CacheError) -> [RedisReply] {
    do throws(CacheError) {
      return try router.perform(requests, &mayComeLate)
    } catch {
      guard error.code == .noSpace, try tidy(Set(requests.map(\.part))) else { throw error }
      return try router.perform(requests, &mayComeLate)
    }
  }
}

/// Batches on a cluster.
extension RedisStore {
  /// Applies a batch on a cluster, part by part, starting with the parts that have requirements. It checks all
  /// requirements and the bounds first, so that nothing changes if they do not hold, unless others write meanwhile.
  private func spread(_ batch: RedisBatch) throws(CacheError) {
    let parts = batch.parts(layout)
    var bounds = batch.bounds.map { RedisBounds(bounds: $0) }
    if let limits = batch.bounds {
      bounds?.held = try holdings.held(adding: batch.growth(except: limits.exemptNamespace), limits, self)
    }
    if parts.count == 1, let (part, piece) = parts.first {
      return try apply([application(piece, part: part, .apply(bounds))])
    }
    let required = parts.filter { !$0.value.requirements.isEmpty }
    if let bounds {
      let growth = try growth(parts, exempt: bounds.bounds.exemptNamespace)
      if bounds.bounds.areExceeded(by: (bounds.held ?? .init()) + growth) { throw .overBounds(bounds.bounds) }
    } else if required.count > 1 || (required.count == 1 && parts.count > 1) {
      _ = try growth(parts, exempt: nil)
    }
    for (part, piece) in required { try apply([application(piece, part: part, .apply(nil))]) }
    let rest = parts.filter { $0.value.requirements.isEmpty }
    try apply(rest.map { application($0.value, part: $0.key, .apply(nil)) })
  }

  /// By how much `parts` together would grow.
  ///
  /// - Throws: `CacheError`: `conflict` if a requirement does not hold.
  private func growth(_ parts: [Int: RedisBatch], exempt: String?) throws(CacheError) -> SlotTally.Count {
    var growth = SlotTally.Count()
    for verdict in try verdicts(parts.map { application($0.value, part: $0.key, .check(exempt: exempt)) }) {
      if case .conflict(let key) = verdict.outcome { throw .conflict(on: key) }
      growth = growth + verdict.growth
    }
    return growth
  }
}

extension CacheError {
  /// The error for a batch that would exceed `bounds`.
  static func overBounds(_ bounds: StoreBounds) -> CacheError {
    CacheError(
      .overBounds,
      "the store would hold more than \(bounds.maxEntries) entries or \(bounds.maxPayloadBytes) bytes",
      hint: "remove entries, or raise maxEntries or maxBytes")
  }
}
