internal import StorageSPI

/// Evictions in a long random history remove exactly what a plain model says.
enum EvictionHistoryChecks {
  static let all = [
    ConformanceCheck(
      "eviction-history", "in a random history, exactly what must go goes, and the bounds hold at every step",
      requires: [.eviction, .atomicBatches]
    ) { context in
      var generator = context.generator()
      for _ in 0..<(3 * context.rounds) {
        let store = "store-\(UInt32.random(in: 0 ... .max, using: &generator))"
        let engine = try EvictionChecks.evictor(try await context.open(store: store))
        var history = EvictionHistory(engine: engine, clock: context.clock, generator: generator)
        for step in 0..<150 { try await history.step(step) }
        generator = history.generator
      }
    }
  ]
}

/// A store, and what it must hold. The store is so small that it is ranked as a whole, and nothing goes beyond the need.
private struct EvictionHistory {
  /// An entry as the model knows it.
  struct Known: Equatable {
    var bytes: Int
    var storedAt: Int64
    var retainUntil: Int64
    var checksum: UInt64
  }

  private static let orders = [
    EvictionOrder(.least(.storedAt)), EvictionOrder(.least(.lastUsedAt), .least(.storedAt)),
    EvictionOrder(.least(.useCount), .least(.lastUsedAt), .least(.storedAt)),
    EvictionOrder(.most(.payloadBytes), .least(.storedAt)), EvictionOrder(.least(.retainUntil), .most(.storedAt)),
  ]

  let engine: any Evicting
  let clock: ManualClock
  var generator: SeededGenerator
  private let bounds: StoreBounds
  private var entries: [CacheKey: Known] = [:]
  private var uses: [CacheKey: (lastUsedAt: Int64, count: Int64)] = [:]
  private var nextChecksum: UInt64 = 1
  /// No two entries are stored at the same time, so that no two have the same rank.
  private var lastStored: Int64

  init(engine: any Evicting, clock: ManualClock, generator: SeededGenerator) {
    (self.engine, self.clock, self.generator) = (engine, clock, generator)
    bounds = StoreBounds(
      maxEntries: Int.random(in: 1...24, using: &self.generator),
      maxPayloadBytes: Int.random(in: 100...2_000, using: &self.generator), exemptNamespace: "leases")
    lastStored = clock.now.milliseconds
  }

  private var now: Int64 { clock.now.milliseconds }

  mutating func step(_ number: Int) async throws {
    switch Int.random(in: 0..<10, using: &generator) {
    case ..<6: try await write(number)
    case 6: try await addUses()
    case 7: try await putLease()
    case 8: try await remove()
    default: clock.advance(by: .milliseconds(Int.random(in: 1...3_000, using: &generator)))
    }
    try await compare(number)
  }

  private mutating func write(_ number: Int) async throws {
    // Room for a time of its own for each entry.
    clock.advance(by: .milliseconds(10))
    let order = Self.orders[Int.random(in: 0..<Self.orders.count, using: &generator)]
    var (batch, next, named) = (WriteBatch(), entries, Set<CacheKey>())
    batch.bounds = bounds
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      let key = try key()
      guard named.insert(key).inserted else { continue }
      switch Int.random(in: 0..<6, using: &generator) {
      case 0:
        batch.remove(key)
        next[key] = nil
      case 1: batch.require(key, entries[key].map { .checksum($0.checksum) } ?? .absent)
      default: next[key] = put(key, &batch)
      }
    }
    let (fits, evicted) = evict(from: &next, sparing: named, by: order)
    let changes = batch
    if fits {
      let count = try await engine.apply(changes, evicting: order)
      try expectEqual(count, evicted, "step \(number): evictions by '\(order.text)'")
      entries = next
    } else {
      try await expectError(.overBounds, "step \(number)") { _ = try await engine.apply(changes, evicting: order) }
    }
    uses = uses.filter { entries[$0.key] != nil }
  }

  private mutating func put(_ key: CacheKey, _ batch: inout WriteBatch) -> Known {
    lastStored = max(lastStored + 1, now - Int64.random(in: 5...800, using: &generator))
    let entry = Known(
      bytes: Int.random(in: 0...[20, 200, 900][Int.random(in: 0..<3, using: &generator)], using: &generator),
      storedAt: lastStored, retainUntil: now + Int64.random(in: -100...20_000, using: &generator),
      checksum: nextChecksum)
    nextChecksum += 1
    batch.put(key, payload: .init(repeating: 1, count: entry.bytes), metadata: Self.metadata(entry))
    return entry
  }

  /// Removes what must go from `next`. Returns whether that is enough, and how many of it had not expired.
  private func evict(
    from next: inout [CacheKey: Known], sparing named: Set<CacheKey>, by order: EvictionOrder
  ) -> (fits: Bool, evicted: Int) {
    var evicted = 0
    var victims = next.filter { !named.contains($0.key) && $0.key.namespace != "leases" }
      .sorted { rank($0.key, $0.value, order).lexicographicallyPrecedes(rank($1.key, $1.value, order)) }[...]
    while true {
      let counted = next.filter { $0.key.namespace != "leases" }
      if counted.count <= bounds.maxEntries, counted.values.reduce(0, { $0 + $1.bytes }) <= bounds.maxPayloadBytes {
        return (true, evicted)
      }
      guard let victim = victims.popFirst() else { return (false, 0) }
      if victim.value.retainUntil > now { evicted += 1 }
      next[victim.key] = nil
    }
  }

  private func rank(_ key: CacheKey, _ entry: Known, _ order: EvictionOrder) -> [Int64] {
    if entry.retainUntil <= now { return [0, entry.retainUntil, entry.storedAt] }
    let use = uses[key] ?? (0, 0)
    return [1]
      + order.terms.map { term in
        let number =
          switch term.field {
          case .storedAt: entry.storedAt
          case .lastUsedAt: max(entry.storedAt, use.lastUsedAt)
          case .useCount: use.count
          case .payloadBytes: Int64(entry.bytes)
          case .retainUntil: entry.retainUntil
          }
        return if case .most = term { -number } else { number }
      }
  }

  private mutating func addUses() async throws {
    var added: [EntryUse] = []
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      let time = now - Int64.random(in: 0...500, using: &generator)
      added.append(
        EntryUse(
          try key(), lastUsedAt: Timestamp(milliseconds: time), count: Int64.random(in: 1...3, using: &generator)))
    }
    try await engine.add(added)
    for use in added where entries[use.key] != nil {
      let known = uses[use.key] ?? (0, 0)
      uses[use.key] = (max(known.lastUsedAt, use.lastUsedAt.milliseconds), known.count + use.count)
    }
  }

  private mutating func putLease() async throws {
    clock.advance(by: .milliseconds(10))
    let key = try CacheKey("leases/\(Int.random(in: 0..<3, using: &generator))")
    var batch = WriteBatch()
    entries[key] = put(key, &batch)
    try await engine.apply(batch)
  }

  private mutating func remove() async throws {
    let key = try key()
    try await engine.remove(key)
    (entries[key], uses[key]) = (nil, nil)
  }

  private mutating func key() throws -> CacheKey {
    let namespace = ["cities", "movies", "url"][Int.random(in: 0..<3, using: &generator)]
    return try CacheKey("\(namespace)/\(Int.random(in: 0..<12, using: &generator))")
  }

  /// Expects the store to hold what the model holds. An engine may drop what has expired at any time.
  private mutating func compare(_ number: Int) async throws {
    var held: [CacheKey: Known] = [:]
    for summary in try await engine.scanAll() { held[summary.key] = Known(summary) }
    for (key, entry) in held {
      try expectEqual(entry, entries[key] ?? entry, "step \(number): \(key)")
      try expect(entries[key] != nil, "step \(number): \(key) is there, and should have gone")
    }
    for (key, entry) in entries where held[key] == nil {
      try expect(entry.retainUntil <= now, "step \(number): \(key) has gone, and should be there")
    }
    entries = held
    uses = uses.filter { held[$0.key] != nil }
    let total = try await engine.statistics().tally.total(except: "leases")
    let counted = held.filter { $0.key.namespace != "leases" }
    try expectEqual(total.entries, counted.count, "step \(number): entries by the tally")
    try expectEqual(
      total.payloadBytes, counted.values.reduce(0) { $0 + $1.bytes }, "step \(number): bytes by the tally")
  }

  private static func metadata(_ entry: Known) -> EntryMetadata {
    let end = Timestamp(milliseconds: entry.retainUntil)
    return EntryMetadata(
      storedAt: Timestamp(milliseconds: entry.storedAt), freshUntil: end, retainUntil: end, contentType: "text/plain",
      checksum: entry.checksum)
  }
}

extension EvictionHistory.Known {
  fileprivate init(_ summary: EntrySummary) {
    let metadata = summary.metadata
    self.init(
      bytes: summary.payloadBytes, storedAt: metadata.storedAt.milliseconds,
      retainUntil: metadata.retainUntil.milliseconds, checksum: metadata.checksum)
  }
}
