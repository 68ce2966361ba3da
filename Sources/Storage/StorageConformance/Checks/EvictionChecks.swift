internal import StorageSPI

/// An engine that evicts makes room in the commit that needs it, by the order that it is given.
enum EvictionChecks {
  static let all = [
    ConformanceCheck(
      "eviction-none", "a batch for which there is room evicts nothing", requires: [.eviction], none),
    ConformanceCheck(
      "eviction-spread", "a full store takes each entry, and holds no more than before", requires: [.eviction], spread),
    check("eviction-order", "what comes first by the order goes first, and no more than needed", order),
    check("eviction-bytes", "as many entries go as the payload needs", bytes),
    check("eviction-expired", "expired entries go first, and are not counted", expired),
    check("eviction-own", "entries that the batch names, and exempt ones, stay", own),
    check("eviction-refused", "a batch for which too little may go changes nothing", refused),
    check("eviction-conflict", "a batch whose requirement does not hold evicts nothing", conflict),
    check("eviction-uses", "uses are added up, outlive a replacement, and not a removal", uses),
    check("eviction-large", "of a large store, old entries go, and few more than needed", large),
    ConformanceCheck(
      "eviction-concurrent", "concurrent writers to a full store all succeed, and never exceed the bounds",
      requires: [.eviction, .shared, .atomicBatches], concurrent),
  ]

  /// A check for engines that evict from all of the store.
  private static func check(
    _ name: String, _ summary: String, _ body: @escaping @Sendable (ConformanceContext) async throws -> Void
  ) -> ConformanceCheck { ConformanceCheck(name, summary, requires: [.eviction, .atomicBatches], body) }

  static func evictor(_ engine: any StorageEngine) throws -> any Evicting {
    guard let evictor = engine.evictor else {
      throw ConformanceFailure("the engine declares eviction, and has no evictor")
    }
    return evictor
  }

  /// An entry that was stored `number` seconds after the start, with a payload of `size` bytes.
  private static func entry(_ number: Int, size: Int = 10, retainedFor retention: Int = 3_600) -> Entry {
    let stored = Sample.start.advanced(by: .seconds(number))
    let end = Sample.start.advanced(by: .seconds(retention))
    return Entry(
      payload: .init(repeating: 7, count: size),
      metadata: EntryMetadata(
        storedAt: stored, freshUntil: end, retainUntil: end, contentType: "text/plain", checksum: UInt64(number)))
  }

  private static func bounds(_ entries: Int, bytes: Int = .max) -> StoreBounds {
    StoreBounds(maxEntries: entries, maxPayloadBytes: bytes, exemptNamespace: "leases")
  }

  /// A store with the entries 0 to 9 of 10 bytes, in an order of keys that is not that of storing.
  private static func filled(_ context: ConformanceContext) async throws -> (any Evicting, [CacheKey: Entry]) {
    let engine = try evictor(try await context.open())
    var held: [CacheKey: Entry] = [:]
    for number in 0..<10 { held[try key(number)] = entry(number) }
    try await engine.put(held.map { (key: $0.key, entry: $0.value) })
    context.clock.advance(by: .seconds(20))
    return (engine, held)
  }

  private static func key(_ number: Int) throws -> CacheKey {
    try CacheKey("\(["cities", "movies", "url"][number % 3])/\(number * 7 % 10)\(number)")
  }

  /// Puts entry 10 and removes `removed` within `bounds`. Expects the entries `gone` to be evicted, of which `counted` had
  /// not expired.
  private static func expectEvicted(
    _ gone: [Int], counted: Int? = nil, by order: EvictionOrder, within bounds: StoreBounds, size: Int = 10,
    _ engine: any Evicting, _ held: inout [CacheKey: Entry]
  ) async throws {
    var batch = WriteBatch()
    batch.bounds = bounds
    batch.put(try key(10), entry(10, size: size))
    let evicted = try await engine.apply(batch, evicting: order)
    for number in gone { held[try key(number)] = nil }
    held[try key(10)] = entry(10, size: size)
    try await engine.expectHolds(held)
    try expectEqual(evicted, counted ?? gone.count, "evictions by '\(order.text)'")
  }

  private static let byTime = EvictionOrder(.least(.storedAt))

  private static func none(_ context: ConformanceContext) async throws {
    var (engine, held) = try await filled(context)
    try await expectEvicted([], by: byTime, within: bounds(11, bytes: 110), engine, &held)
    try await expectEvicted([], by: byTime, within: bounds(11, bytes: 120), size: 20, engine, &held)
  }

  private static func order(_ context: ConformanceContext) async throws {
    var (engine, held) = try await filled(context)
    try await expectEvicted([0], by: byTime, within: bounds(10), engine, &held)
    try await engine.remove(try key(10))
    held[try key(10)] = nil
    try await expectEvicted([9, 8], by: EvictionOrder(.most(.storedAt)), within: bounds(8), engine, &held)
    try await engine.remove(try key(10))
    held[try key(10)] = nil
    held[try key(1)] = entry(1, size: 30, retainedFor: 50)
    try await engine.put(try key(1), entry(1, size: 30, retainedFor: 50))
    try await expectEvicted(
      [1], by: EvictionOrder(.most(.payloadBytes), .least(.storedAt)), within: bounds(7), engine, &held)
    try await engine.put(try key(6), entry(6, retainedFor: 60))
    held[try key(6)] = entry(6, retainedFor: 60)
    try await expectEvicted(
      [6], by: EvictionOrder(.least(.useCount), .least(.retainUntil)), within: bounds(6), engine, &held)
  }

  private static func bytes(_ context: ConformanceContext) async throws {
    var (engine, held) = try await filled(context)
    try await expectEvicted([0, 1, 2], by: byTime, within: bounds(100, bytes: 105), size: 35, engine, &held)
  }

  private static func expired(_ context: ConformanceContext) async throws {
    var (engine, held) = try await filled(context)
    for (number, retention) in [(5, 22), (7, 21), (9, 23)] {
      held[try key(number)] = entry(number, retainedFor: retention)
      try await engine.put(try key(number), entry(number, retainedFor: retention))
    }
    context.clock.advance(by: .seconds(2))
    // Entry 9 has not expired yet.
    try await expectEvicted([7, 5, 0], counted: 1, by: byTime, within: bounds(8), engine, &held)
  }

  private static func own(_ context: ConformanceContext) async throws {
    var (engine, held) = try await filled(context)
    let lease = try CacheKey("leases/a")
    held[lease] = entry(0, size: 500)
    try await engine.put(lease, entry(0, size: 500))
    var batch = WriteBatch()
    batch.bounds = bounds(9, bytes: 90)
    batch.put(try key(0), entry(0, size: 20))
    batch.require(try key(1), .checksum(1))
    batch.put(try key(11), entry(0))
    try expectEqual(try await engine.apply(batch, evicting: byTime), 3, "evictions")
    for number in 2...4 { held[try key(number)] = nil }
    (held[try key(0)], held[try key(11)]) = (entry(0, size: 20), entry(0))
    try await engine.expectHolds(held)
  }

  private static func refused(_ context: ConformanceContext) async throws {
    let (engine, held) = try await filled(context)
    try await engine.put(try CacheKey("leases/a"), entry(0))
    var batch = WriteBatch()
    batch.put(try key(0), entry(0, size: 60))
    batch.put(try key(10), entry(10, size: 60))
    for bounds in [bounds(1), bounds(10, bytes: 119), bounds(0)] {
      batch.bounds = bounds
      let changes = batch
      try await expectError(.overBounds, "a batch larger than its bounds") {
        _ = try await engine.apply(changes, evicting: byTime)
      }
    }
    try await engine.expectHolds(held.merging([try CacheKey("leases/a"): entry(0)]) { $1 })
  }

  private static func conflict(_ context: ConformanceContext) async throws {
    let (engine, held) = try await filled(context)
    var batch = WriteBatch()
    batch.bounds = bounds(10)
    batch.require(try key(10), .checksum(1))
    batch.put(try key(10), entry(10))
    let changes = batch
    try await expectError(.conflict, "a batch whose requirement does not hold") {
      _ = try await engine.apply(changes, evicting: byTime)
    }
    try await engine.expectHolds(held)
  }

  private static func uses(_ context: ConformanceContext) async throws {
    var (engine, held) = try await filled(context)
    func use(_ number: Int, at seconds: Int, _ count: Int64 = 1) throws -> EntryUse {
      EntryUse(try key(number), lastUsedAt: Sample.start.advanced(by: .seconds(seconds)), count: count)
    }
    // By last use: 2 3 4 5 6 7 8 9 1 0. By count: 4 5 6 7 8 9, then 3 with one, 1 with two, 2 with three, 0 with four.
    try await engine.add([try use(0, at: 19), try use(0, at: 12, 3), try use(1, at: 18, 2), try use(2, at: 1, 3)])
    try await engine.add([try use(3, at: 0), try use(12, at: 5)])
    // A replacement changes nothing about it.
    try await engine.put(try key(0), entry(0))
    let (byUse, byCount) = (
      EvictionOrder(.least(.lastUsedAt), .least(.storedAt)),
      EvictionOrder(.least(.useCount), .least(.lastUsedAt), .least(.storedAt))
    )
    try await expectEvicted([2, 3], by: byUse, within: bounds(9), engine, &held)
    try await engine.remove(try key(10))
    held[try key(10)] = nil
    try await expectEvicted([4, 5, 6], by: byCount, within: bounds(6), engine, &held)
    for number in [7, 8, 9] {
      held[try key(number)] = nil
      try await engine.remove(try key(number))
    }
    // An entry that was evicted comes back as a stranger, like one that never had a use.
    for number in [2, 10] {
      held[try key(number)] = entry(number)
      try await engine.put(try key(number), entry(number))
    }
    try await engine.remove(try key(10))
    held[try key(10)] = nil
    try await expectEvicted([2], by: byCount, within: bounds(3), engine, &held)
  }

  private static func large(_ context: ConformanceContext) async throws {
    let engine = try evictor(try await context.open())
    let keys = try Sample.keys(2_000)
    try await engine.put(keys.enumerated().map { (key: $1, entry: entry($0)) })
    context.clock.advance(by: .seconds(2_000))
    var batch = WriteBatch()
    batch.bounds = bounds(2_000)
    batch.put(try CacheKey("movies/a"), entry(2_000))
    let evicted = try await engine.apply(batch, evicting: byTime)
    try expect((1...32).contains(evicted), "\(evicted) entries of 2,000 were evicted to make room for one")
    let left = Set(try await engine.scanAll().map(\.key))
    try expectEqual(left.count, 2_001 - evicted, "entries that are left")
    // Random, but this would not happen in the age of the universe.
    try expect(keys.suffix(1_000).allSatisfy(left.contains), "an entry of the newer half was evicted")
  }

  /// Only so large that an engine which looks at a part of it finds something there, or in another part.
  private static func spread(_ context: ConformanceContext) async throws {
    let engine = try evictor(try await context.open())
    let keys = try Sample.keys(3_000)
    let old = keys.prefix(2_500)
    try await engine.put(old.enumerated().map { (key: $1, entry: entry($0)) })
    context.clock.advance(by: .seconds(3_000))
    for (number, key) in keys.dropFirst(old.count).enumerated().prefix(40 * context.rounds) {
      var batch = WriteBatch()
      batch.bounds = bounds(2_500, bytes: 25_000)
      batch.put(key, entry(2_500 + number))
      let evicted = try await engine.apply(batch, evicting: byTime)
      try expect((0...40).contains(evicted), "\(evicted) entries were evicted to make room for one")
      try expectEqual(try await engine.entry(key), entry(2_500 + number), at: key)
    }
    let statistics = try await engine.statistics()
    try expect(
      statistics.entries <= 2_500 && statistics.payloadBytes <= 25_000,
      "the store holds \(statistics.entries) entries where there is room for 2,500")
  }

  private static func concurrent(_ context: ConformanceContext) async throws {
    var engines: [any Evicting] = []
    for _ in 0..<3 { engines.append(try evictor(try await context.open())) }
    let bounds = bounds(40, bytes: 400)
    let puts = 60 * context.rounds
    let progress = WriterProgress(writers: engines.count)
    let evicted = try await withThrowingTaskGroup(of: Int.self) { group in
      for (engine, namespace) in zip(engines, ["cities", "movies", "url"]) {
        group.addTask {
          defer { progress.end() }
          var evicted = 0
          for (number, key) in try Sample.keys(puts, namespace: namespace).enumerated() {
            var batch = WriteBatch()
            batch.bounds = bounds
            batch.put(key, entry(number))
            evicted += try await engine.apply(batch, evicting: byTime)
          }
          return evicted
        }
      }
      let observer = engines[0]
      group.addTask {
        repeat {
          let count = try await observer.scanAll().count
          try expect(count <= 40, "a scan sees \(count) entries where there is room for 40")
          await Task.yield()
        } while progress.isUnderWay
        return 0
      }
      return try await group.reduce(0, +)
    }
    let left = try await engines[0].statistics()
    try expect(bounds.contain(left.tally), "the store holds more than its bounds")
    try expectEqual(left.entries + evicted, 3 * puts, "entries that are left or were evicted")
  }
}

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
