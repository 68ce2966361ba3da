internal import StorageSPI

extension RedisStore {
  /// Makes all changes of `batch`, or none. On a cluster this holds for each part separately.
  ///
  /// - Parameter eviction: what may be evicted to make room.
  /// - Returns: how many unexpired entries were evicted.
  ///
  /// Cost: a round trip; on a cluster one more if the bounds are near, and another if the batch spans several parts.
  @discardableResult
  func apply(_ batch: RedisBatch, evicting eviction: RedisEviction? = nil) throws(CacheError) -> Int {
    if layout.isSpread { return try spread(batch, evicting: eviction) }
    if batch.isEmpty, batch.bounds == nil { return 0 }
    return try apply([
      application(batch, part: 0, .apply(batch.bounds.map { RedisBounds(bounds: $0) }, evicting: eviction))
    ])
  }

  /// Applies `batch` to `part`.
  func application(_ batch: RedisBatch, part: Int, _ mode: RedisApplication.Mode) -> RedisApplication {
    let name: RedisBatchName? = if case .apply = mode { writers.next() } else { nil }
    return RedisApplication(batch, part: part, mode, name: name, publisher: publisher)
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
      case (.over, .apply(let bounds?, _)): throw .overBounds(bounds.bounds)
      default: evictions += verdict.evictions
      }
    }
    return evictions
  }

  /// The verdicts on `applications`, in their order. If entries that the server has dropped may put one over its bounds,
  /// they are forgotten, and it is judged again.
  func verdicts(_ applications: [RedisApplication]) throws(CacheError) -> [RedisApplication.Verdict] {
    ahead.clear()
    var requests: [RedisRequest] = []
    for application in applications { requests.append(try application.request(options)) }
    var verdicts: [RedisApplication.Verdict] = []
    for (index, reply) in try performMakingRoom(requests).enumerated() {
      let application = applications[index]
      guard var verdict = application.verdict(reply.value) else { throw router.undecodable("a batch has no verdict") }
      if case .over = verdict.outcome, verdict.isStale, try tidy([application.part]) {
        guard let again = application.verdict(try router.perform(requests[index])) else {
          throw router.undecodable("a batch has no verdict")
        }
        verdict = again
      }
      writers.settle(application)
      verdicts.append(verdict)
    }
    return verdicts
  }

  /// Adds `uses` to the entries. Cost: a round trip for each thousand.
  func add(_ uses: [EntryUse]) throws(CacheError) {
    for start in stride(from: 0, to: uses.count, by: Self.usesAtOnce) {
      let page = uses[start..<min(start + Self.usesAtOnce, uses.count)]
      let requests = Dictionary(grouping: page) { layout.part(of: $0.key) }.map { part, uses in
        RedisRequest(
          part, .use, keys: layout.tables(of: part) + uses.map { layout.name(of: $0.key, in: part) },
          arguments: uses.flatMap { [String($0.lastUsedAt.milliseconds), String($0.count)] }.map { Array($0.utf8) })
      }
      _ = try router.perform(requests)
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
}

/// Batches on a cluster.
extension RedisStore {
  /// How many parts to ask at once for room, and how often.
  private static let (partsAtOnce, roundsOfRoom) = (16, 8)

  /// Applies a batch on a cluster, part by part, starting with the parts that have requirements. It checks all
  /// requirements and the bounds first, so that nothing changes if they do not hold, unless others write meanwhile.
  private func spread(_ batch: RedisBatch, evicting eviction: RedisEviction?) throws(CacheError) -> Int {
    let parts = batch.parts(layout)
    var bounds = batch.bounds.map { RedisBounds(bounds: $0) }
    if let limits = batch.bounds {
      bounds?.held = try holdings.held(adding: batch, limits, mayEvict: eviction != nil, self)
    }
    var eviction = eviction
    eviction?.most = EntryTally.Count()
    if parts.count == 1, let (part, piece) = parts.first {
      return try apply(application(piece, part: part, .apply(bounds, evicting: eviction)))
    }
    var evictions = 0
    let required = parts.filter { !$0.value.requirements.isEmpty }
    if let bounds {
      let growth = try growth(parts, exempt: bounds.bounds.exemptNamespace)
      if bounds.areExceeded(by: (bounds.held ?? .init()) + growth) {
        guard let eviction else { throw .overBounds(bounds.bounds) }
        evictions = try makeRoom(for: growth, bounds, eviction)
      }
    } else if required.count > 1 || (required.count == 1 && parts.count > 1) {
      _ = try growth(parts, exempt: nil)
    }
    let rest = parts.filter { $0.value.requirements.isEmpty }
    for (part, piece) in required { try apply([application(piece, part: part, .unbounded)]) }
    try apply(rest.map { application($0.value, part: $0.key, .unbounded) })
    return evictions
  }

  /// Applies a batch to the one part that it is about. If too little of that part may go, others make room.
  private func apply(_ application: RedisApplication) throws(CacheError) -> Int {
    guard let verdict = try verdicts([application]).first else { throw router.undecodable("a batch has no verdict") }
    switch (verdict.outcome, application.mode) {
    case (.conflict(let key), _): throw .conflict(on: key)
    case (.over, .apply(let bounds?, let eviction?)):
      let evictions = try makeRoom(for: verdict.growth, bounds, eviction)
      return try evictions + apply([self.application(application.batch, part: application.part, .unbounded)])
    case (.over, .apply(let bounds?, nil)): throw .overBounds(bounds.bounds)
    default: return verdict.evictions
    }
  }

  /// By how much `parts` together would grow.
  ///
  /// - Throws: `CacheError`: `conflict` if a requirement does not hold.
  private func growth(_ parts: [Int: RedisBatch], exempt: String?) throws(CacheError) -> EntryTally.Count {
    var growth = EntryTally.Count()
    for verdict in try verdicts(parts.map { application($0.value, part: $0.key, .check(exempt: exempt)) }) {
      if case .conflict(let key) = verdict.outcome { throw .conflict(on: key) }
      growth = growth + verdict.growth
    }
    return growth
  }

  /// Evicts entries of parts at random until there is room for `growth`, and returns how many had not expired.
  ///
  /// - Throws: `CacheError`: `overBounds` if it has not found enough. The core then looks at all parts.
  private func makeRoom(
    for growth: EntryTally.Count, _ bounds: RedisBounds, _ eviction: RedisEviction
  ) throws(CacheError) -> Int {
    var (freed, evictions) = (EntryTally.Count(), 0)
    var share = eviction
    share.most = EntryTally.Count(entries: 1)
    // So much that the part has to give something.
    let full = RedisBounds(
      bounds: bounds.bounds,
      held: EntryTally.Count(
        entries: min(bounds.bounds.maxEntries, .max - 1) + 1, payloadBytes: bounds.bounds.maxPayloadBytes))
    for _ in 0..<Self.roundsOfRoom {
      let missing = max(1, growth.entries + freed.entries)
      let count = min(Self.partsAtOnce, growth.payloadBytes + freed.payloadBytes > 0 ? Self.partsAtOnce : missing * 2)
      let parts = Set((0..<count).map { _ in Int.random(in: layout.parts) })
      for verdict in try verdicts(parts.map { application(RedisBatch(), part: $0, .apply(full, evicting: share)) }) {
        guard case .done = verdict.outcome else { continue }
        freed = freed + verdict.growth
        evictions += verdict.evictions
      }
      if growth.entries + freed.entries <= 0, growth.payloadBytes + freed.payloadBytes <= 0 { return evictions }
    }
    throw .overBounds(bounds.bounds)
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
