internal import StorageSPI

extension RedisStore {
  /// Makes all changes of `batch`, or none. On a cluster this holds for each part separately.
  ///
  /// - Parameter eviction: what may be evicted to make room.
  /// - Returns: how many unexpired entries were evicted.
  ///
  /// Cost: a round trip, or two for a single entry if there is more to do than to store it; on a cluster one more if
  /// the bounds are near, and another if the batch spans several parts.
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
  /// How many entries a batch removes beyond what it adds, at the most, where the bounds are exceeded.
  private static let mostSurplus = 16
  /// How many parts to ask at once for room at the most, and how often.
  private static let (partsAtOnce, roundsOfRoom) = (16, 32)

  /// Applies a batch on a cluster, part by part, starting with the parts that have requirements. It checks all
  /// requirements and the bounds first, so that nothing changes if they do not hold, unless others write meanwhile.
  private func spread(_ batch: RedisBatch, evicting eviction: RedisEviction?) throws(CacheError) -> Int {
    let parts = batch.parts(layout)
    var bounds = batch.bounds.map { RedisBounds(bounds: $0) }
    if let limits = batch.bounds {
      let growth = batch.growth(except: limits.exemptNamespace)
      bounds?.held = try holdings.held(adding: growth, limits, mayEvict: eviction != nil, self)
      bounds?.time = .now
    }
    var eviction = eviction
    if let bounds, eviction != nil { eviction?.most = try surplus(bounds, of: batch) }
    if parts.count == 1, let (part, piece) = parts.first {
      return try apply(application(piece, part: part, .apply(bounds, evicting: eviction)))
    }
    var evictions = 0
    let required = parts.filter { !$0.value.requirements.isEmpty }
    if let bounds {
      let growth = try growth(parts, exempt: bounds.bounds.exemptNamespace)
      if bounds.bounds.areExceeded(by: (bounds.held ?? .init()) + growth) {
        guard let eviction else { throw .overBounds(bounds.bounds) }
        evictions = try makeRoom(for: growth, bounds, eviction, sparing: Set(parts.keys))
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
      let evictions = try makeRoom(for: verdict.growth, bounds, eviction, sparing: [application.part])
      return try evictions + apply([self.application(application.batch, part: application.part, .unbounded)])
    case (.over, .apply(let bounds?, nil)): throw .overBounds(bounds.bounds)
    case (_, .apply(let bounds?, _)):
      holdings.note(verdict.growth, since: bounds.time)
      return verdict.evictions
    default: return verdict.evictions
    }
  }

  /// How much a batch removes beyond what it adds, because the bounds are exceeded without it.
  ///
  /// - Throws: `CacheError`: `overBounds` if that is too much for batches to make good, as after the bounds were lowered.
  ///   The core then looks at all parts, and adds to the batch what has to go.
  private func surplus(_ bounds: RedisBounds, of batch: RedisBatch) throws(CacheError) -> EntryTally.Count {
    let (limits, held) = (bounds.bounds, bounds.held ?? .init())
    guard limits.areExceeded(by: held) else { return EntryTally.Count() }
    let over = EntryTally.Count(
      entries: max(held.entries - limits.maxEntries, 0),
      payloadBytes: max(held.payloadBytes - limits.maxPayloadBytes, 0))
    let most = EntryTally.Count(
      entries: Self.mostSurplus, payloadBytes: Self.mostSurplus * held.payloadBytes / max(held.entries, 1))
    let isMuch =
      over.entries > max(limits.maxEntries / 64, most.entries)
      || over.payloadBytes > max(limits.maxPayloadBytes / 64, most.payloadBytes)
    if isMuch, !batch.removes {
      holdings.forget()
      throw .overBounds(limits)
    }
    return EntryTally.Count(
      entries: min(over.entries, most.entries), payloadBytes: min(over.payloadBytes, most.payloadBytes))
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

  /// Evicts entries of parts at random, but not of `own`, until there is room for `growth`, and returns how many had not
  /// expired. Parts on servers that do not answer give nothing.
  ///
  /// - Throws: `CacheError`: `overBounds` if it has not found enough. The core then looks at all parts.
  private func makeRoom(
    for growth: EntryTally.Count, _ bounds: RedisBounds, _ eviction: RedisEviction, sparing own: Set<Int>
  ) throws(CacheError) -> Int {
    let (limits, held) = (bounds.bounds, bounds.held ?? .init())
    // Others make room for themselves.
    let most = growth + (eviction.most ?? .init())
    var missing = EntryTally.Count(
      entries: min(held.entries + growth.entries - limits.maxEntries, most.entries),
      payloadBytes: min(held.payloadBytes + growth.payloadBytes - limits.maxPayloadBytes, most.payloadBytes))
    guard growth.entries <= limits.maxEntries, growth.payloadBytes <= limits.maxPayloadBytes else {
      throw .overBounds(limits)
    }
    var (share, evictions, change) = (eviction, 0, growth)
    share.most = EntryTally.Count(entries: 1)
    // Bounds that make each part give up an entry.
    let full = RedisBounds(
      bounds: StoreBounds(maxEntries: 0, maxPayloadBytes: 1 << 50, exemptNamespace: limits.exemptNamespace),
      held: EntryTally.Count(entries: 1))
    for _ in 0..<Self.roundsOfRoom where missing.entries > 0 || missing.payloadBytes > 0 {
      let parts = Set((0..<partsToAsk(for: missing, of: held)).map { _ in Int.random(in: layout.parts) }).subtracting(
        own)
      let applications = parts.map { application(RedisBatch(), part: $0, .apply(full, evicting: share)) }
      for verdict in try verdictsOfReachable(applications) {
        missing = missing + verdict.growth
        change = change + verdict.growth
        evictions += verdict.evictions
      }
    }
    guard missing.entries <= 0, missing.payloadBytes <= 0 else { throw .overBounds(limits) }
    holdings.note(change, since: bounds.time)
    return evictions
  }

  /// How many parts at random have at least what is missing in a store that holds `held`, if each gives an entry.
  private func partsToAsk(for missing: EntryTally.Count, of held: EntryTally.Count) -> Int {
    let most = Double(max(held.entries, layout.parts.count))
    let shares = [(missing.entries, held.entries), (missing.payloadBytes, held.payloadBytes)].map { missing, held in
      most * Double(max(missing, 0)) / Double(max(held, 1))
    }
    return Int(min(shares.reduce(0, max) + 1, Double(Self.partsAtOnce)))
  }

  /// The verdicts on those of `applications` that were made at once.
  private func verdictsOfReachable(
    _ applications: [RedisApplication]
  ) throws(CacheError) -> [RedisApplication.Verdict] {
    var requests: [RedisRequest] = []
    for application in applications { requests.append(try application.request(options)) }
    if requests.isEmpty { return [] }
    var verdicts: [RedisApplication.Verdict] = []
    for (application, reply) in zip(applications, try router.ask(requests)) {
      guard let reply, let verdict = application.verdict(reply.value) else { continue }
      writers.settle(application)
      if case .done = verdict.outcome { verdicts.append(verdict) }
    }
    return verdicts
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
