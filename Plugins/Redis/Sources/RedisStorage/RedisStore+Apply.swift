internal import StorageSPI

extension RedisStore {
  /// Makes all changes of `batch`, or none. On a cluster this holds for the changes of each part.
  ///
  /// Cost: a round trip; on a cluster another where the bounds are near, and one more where the batch concerns several
  /// parts.
  func apply(_ batch: RedisBatch) throws(StorageError) {
    if layout.partCount > 1 { return try spread(batch) }
    if batch.isEmpty, batch.bounds == nil { return }
    try apply([application(batch, part: 0, .apply(batch.bounds, others: EntryTally.Count()))])
  }

  /// The application of `batch` to `part`, which takes the place of an earlier one in the server's memory.
  private func application(_ batch: RedisBatch, part: Int, _ mode: RedisApplication.Mode) -> RedisApplication {
    RedisApplication(batch, part: part, mode, replacing: names.take(part))
  }

  /// Carries out `applications`, each of another part, all at once.
  ///
  /// - Throws: `StorageError`: `conflict` or `overBounds` where one of them has changed nothing for that reason.
  private func apply(_ applications: [RedisApplication]) throws(StorageError) {
    for (application, verdict) in zip(applications, try verdicts(applications)) {
      switch (verdict.outcome, application.mode) {
      case (.conflict(let key), _): throw .conflict(on: key)
      case (.over, .apply(let bounds?, _)): throw .overBounds(bounds)
      default: continue
      }
    }
  }

  /// The verdicts on `applications`, in their order. What is over its bounds for entries that have expired is judged
  /// again without them.
  private func verdicts(_ applications: [RedisApplication]) throws(StorageError) -> [RedisApplication.Verdict] {
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

  /// The answers to `requests`. A server without room may have dropped entries whose lines are still in the index: some
  /// of these are forgotten, and then it is asked again.
  private func performMakingRoom(_ requests: [RedisRequest]) throws(StorageError) -> [RedisReply] {
    do throws(StorageError) {
      return try router.perform(requests)
    } catch {
      guard error.code == .noSpace, try isTidied(Set(requests.map(\.part))) else { throw error }
      return try router.perform(requests)
    }
  }

  /// Applies a batch on a cluster, where it is over its bounds for entries that have expired in other parts again without
  /// them: a part counts what its server has dropped until somebody asks it.
  private func spread(_ batch: RedisBatch) throws(StorageError) {
    do throws(StorageError) {
      try spreadAsCounted(batch)
    } catch {
      guard error.code == .overBounds else { throw error }
      _ = try count()
      try spreadAsCounted(batch)
    }
  }

  /// Applies a batch on a cluster: part by part, those first of which something is required. That all requirements and
  /// the bounds hold is found out before, so that nothing is changed where they do not, unless others write meanwhile.
  private func spreadAsCounted(_ batch: RedisBatch) throws(StorageError) {
    let parts = batch.parts(layout)
    let others =
      try batch.bounds.map { bounds throws(StorageError) in
        try holdings.ofOthers(than: Set(parts.keys), adding: batch, bounds, self)
      } ?? EntryTally.Count()
    if parts.count == 1, let (part, piece) = parts.first {
      return try apply([application(piece, part: part, .apply(batch.bounds, others: others))])
    }
    try check(parts, batch.bounds, others)
    let required = parts.filter { !$0.value.requirements.isEmpty }
    let rest = parts.filter { $0.value.requirements.isEmpty }
    for (part, piece) in required { try apply([application(piece, part: part, .unbounded)]) }
    try apply(rest.map { application($0.value, part: $0.key, .unbounded) })
  }

  /// Throws unless the parts together may be changed so.
  private func check(
    _ parts: [Int: RedisBatch], _ bounds: StoreBounds?, _ others: EntryTally.Count
  ) throws(StorageError) {
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

extension StorageError {
  /// The error of a batch that would exceed `bounds`.
  static func overBounds(_ bounds: StoreBounds) -> StorageError {
    StorageError(
      .overBounds,
      "the store would hold more than \(bounds.maxEntries) entries or \(bounds.maxPayloadBytes) bytes",
      hint: "remove entries, or raise cache.maxEntries or cache.maxBytes")
  }
}
