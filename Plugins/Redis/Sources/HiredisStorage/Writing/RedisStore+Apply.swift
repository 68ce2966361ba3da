internal import StorageSPI

extension RedisStore {
  /// Makes all changes of `batch`, or none. On a cluster this holds for each part separately.
  ///
  /// - Parameter eviction: what may be evicted to make room; on a cluster `nil`.
  /// - Returns: how many unexpired entries were evicted.
  ///
  /// Cost: a round trip; on a cluster one more if the bounds are near, and another if the batch spans several parts.
  @discardableResult
  func apply(_ batch: RedisBatch, evicting eviction: RedisEviction? = nil) throws(CacheError) -> Int {
    if layout.partCount > 1 {
      try spread(batch)
      return 0
    }
    if batch.isEmpty, batch.bounds == nil { return 0 }
    let mode = RedisApplication.Mode.apply(batch.bounds, others: EntryTally.Count(), evicting: eviction)
    return try apply([application(batch, part: 0, mode)])
  }

  /// Applies `batch` to `part`, and lets the server forget an earlier batch.
  func application(_ batch: RedisBatch, part: Int, _ mode: RedisApplication.Mode) -> RedisApplication {
    RedisApplication(batch, part: part, mode, replacing: names.take(part), publisher: publisher)
  }

  /// Applies `applications`, each to another part, all at once.
  ///
  /// - Returns: how many unexpired entries were evicted.
  /// - Throws: `CacheError`: `conflict` or `overBounds` if one of them changed nothing for that reason.
  @discardableResult
  func apply(_ applications: [RedisApplication]) throws(CacheError) -> Int {
    var evictions = 0
    for (application, verdict) in zip(applications, try verdicts(applications)) {
      switch (verdict.outcome, application.mode) {
      case (.conflict(let key), _): throw .conflict(on: key)
      case (.over, .apply(let bounds?, _, _)): throw .overBounds(bounds)
      default: evictions += verdict.evictions
      }
    }
    return evictions
  }

  /// The verdicts on `applications`, in their order. If expired entries put one over its bounds, it is judged again
  /// without them.
  private func verdicts(_ applications: [RedisApplication]) throws(CacheError) -> [RedisApplication.Verdict] {
    var verdicts: [RedisApplication.Verdict] = []
    let replies = try performMakingRoom(applications.map { $0.request(options) })
    for (application, reply) in zip(applications, replies) {
      guard var verdict = application.verdict(reply.value) else { throw router.undecodable("a batch has no verdict") }
      while case .over = verdict.outcome, verdict.isStale {
        let again = try router.perform(application.request(options))
        guard let next = application.verdict(again) else { throw router.undecodable("a batch has no verdict") }
        verdict = next
      }
      names.settle(application, verdict)
      verdicts.append(verdict)
    }
    return verdicts
  }

  /// Adds `uses` to the entries. Cost: a round trip for each thousand.
  func add(_ uses: [EntryUse]) throws(CacheError) {
    for (part, uses) in Dictionary(grouping: uses, by: { layout.part(of: $0.key) }) {
      for start in stride(from: 0, to: uses.count, by: Self.usesAtOnce) {
        let page = uses[start..<min(start + Self.usesAtOnce, uses.count)]
        let arguments = page.flatMap { [String($0.lastUsedAt.milliseconds), String($0.count)] }
        _ = try router.perform(
          RedisRequest(
            part, .use, keys: layout.tables(of: part) + page.map { layout.name(of: $0.key, in: part) },
            arguments: arguments.map { Array($0.utf8) }))
      }
    }
  }

  /// How many uses a call adds, so that no call blocks the server for long.
  private static let usesAtOnce = 1_000

  /// The replies to `requests`. A server without room may have evicted entries whose lines are still in the index: then
  /// this forgets some of those lines, and asks again.
  private func performMakingRoom(_ requests: [RedisRequest]) throws(CacheError) -> [RedisReply] {
    do throws(CacheError) {
      return try router.perform(requests)
    } catch {
      guard error.code == .noSpace, try tidy(Set(requests.map(\.part))) else { throw error }
      return try router.perform(requests)
    }
  }

  /// Applies a batch on a cluster. If the bounds are exceeded, it recounts and tries again, because a part counts the
  /// entries that its server has dropped until the part is next asked.
  private func spread(_ batch: RedisBatch) throws(CacheError) {
    do throws(CacheError) {
      try spreadAsCounted(batch)
    } catch {
      guard error.code == .overBounds else { throw error }
      _ = try count()
      try spreadAsCounted(batch)
    }
  }

  /// Applies a batch on a cluster, part by part, starting with the parts that have requirements. It checks all
  /// requirements and the bounds first, so that nothing changes if they do not hold, unless others write meanwhile.
  private func spreadAsCounted(_ batch: RedisBatch) throws(CacheError) {
    let parts = batch.parts(layout)
    let others =
      try batch.bounds.map { bounds throws(CacheError) in
        try holdings.ofOthers(than: Set(parts.keys), adding: batch, bounds, self)
      } ?? EntryTally.Count()
    if parts.count == 1, let (part, piece) = parts.first {
      try apply([application(piece, part: part, .apply(batch.bounds, others: others))])
      return
    }
    try check(parts, batch.bounds, others)
    let required = parts.filter { !$0.value.requirements.isEmpty }
    let rest = parts.filter { $0.value.requirements.isEmpty }
    for (part, piece) in required { try apply([application(piece, part: part, .unbounded)]) }
    try apply(rest.map { application($0.value, part: $0.key, .unbounded) })
  }

  /// Throws unless the parts together allow the change.
  private func check(
    _ parts: [Int: RedisBatch], _ bounds: StoreBounds?, _ others: EntryTally.Count
  ) throws(CacheError) {
    let checks = parts.map { RedisApplication($0.value, part: $0.key, .check(exempt: bounds?.exemptNamespace)) }
    while true {
      var (holds, isStale) = (others, false)
      for verdict in try verdicts(checks) {
        if case .conflict(let key) = verdict.outcome { throw .conflict(on: key) }
        holds = holds + verdict.holds
        isStale = isStale || verdict.isStale
      }
      guard let bounds, holds.entries > bounds.maxEntries || holds.payloadBytes > bounds.maxPayloadBytes else { return }
      if !isStale { throw .overBounds(bounds) }
    }
  }
}

extension RedisApplication.Mode {
  fileprivate static var unbounded: Self { .apply(nil, others: EntryTally.Count()) }
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
