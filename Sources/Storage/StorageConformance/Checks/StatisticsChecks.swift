internal import EngineSupport
internal import StorageSPI

/// Statistics count what is in the store, and an integrity check finds no fault.
enum StatisticsChecks {
  static let all = [
    ConformanceCheck("statistics-follow-changes", "statistics are right after every kind of change", changes),
    ConformanceCheck("statistics-of-long-keys", "entries with long keys are counted like others", longKeys),
    ConformanceCheck("statistics-storage-bytes", "a store with an entry takes up space", storageBytes),
    ConformanceCheck(
      "integrity-of-sound-store", "an integrity check finds nothing wrong with a sound store", integrity),
  ]

  private static func changes(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    var entries: [CacheKey: Entry] = [:]
    try await engine.expectStatistics(entries)
    for (number, text) in ["movies/a", "cities/a", "cities/b", "cities/a", "posters/a", "movies/a"].enumerated() {
      let count = [10, 5_000, 0, 70_000, 1, 3][number]
      let seconds = number == 4 ? 1 : 3_600
      let metadata = Sample.metadata(checksum: 1, retainedFor: .seconds(seconds))
      let entry = Entry(payload: .init(repeating: 1, count: count), metadata: metadata)
      entries[try CacheKey(text)] = entry
      try await engine.put(try CacheKey(text), entry)
      try await engine.expectStatistics(entries)
    }
    for text in ["cities/b", "movies/a"] {
      entries[try CacheKey(text)] = nil
      try await engine.remove(try CacheKey(text))
      try await engine.expectStatistics(entries)
    }
    context.clock.advance(by: .seconds(1))
    try await engine.compact()
    entries[try CacheKey("posters/a")] = nil
    try await engine.expectStatistics(entries)
  }

  private static func longKeys(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    var entries: [CacheKey: Entry] = [:]
    for number in 0..<10 { entries[try Sample.key(length: 900, suffix: "/\(number)")] = Sample.entry(number) }
    try await engine.put(entries.map { ($0.key, $0.value) })
    try await engine.expectStatistics(entries)
    let key = try Sample.key(length: 900, suffix: "/5")
    entries[key] = nil
    try await engine.remove(key)
    try await engine.expectStatistics(entries)
  }

  private static func storageBytes(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let empty = try await engine.count().storageBytes
    try expect(empty >= 0, "an empty store claims to take up \(empty) bytes")
    var generator = context.generator()
    let payload = generator.bytes(300_000)
    try await engine.put(try CacheKey("cities/a"), Entry(payload: payload, metadata: Sample.metadata()))
    let filled = try await engine.count().storageBytes
    try expect(filled >= payload.count, "a store of \(payload.count) bytes of noise claims to take up \(filled)")
  }

  private static func integrity(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    try await expectSound(engine, "an empty store")
    var generator = context.generator()
    for (number, key) in try (Sample.keys(50) + ScanChecks.keys()).enumerated() {
      let payload = generator.bytes(Int.random(in: 0...6_000, using: &generator))
      try await engine.put(key, Entry(payload: payload, metadata: Sample.metadata(checksum: UInt64(number))))
      if number.isMultiple(of: 3) { try await engine.remove(key) }
    }
    try await expectSound(engine, "a store that was worked on")
    try await engine.compact()
    try await expectSound(engine, "a store that was compacted")
  }

  private static func expectSound(_ engine: any StorageEngine, _ what: String) async throws {
    let issues = try await engine.check().map { "\($0.kind.rawValue): \($0.message)" }
    try expect(issues.isEmpty, "integrity of \(what): \(issues.prefix(3).joined(separator: "; "))")
  }
}

/// The tally counts exactly the entries in the store, each in its slot.
enum TallyChecks {
  static let all = [
    ConformanceCheck("tally-random-batches", "after random batches the tally is that of the entries", random),
    ConformanceCheck(
      "tally-reopened", "the tally of a store that is opened again is that of its entries", requires: [.persistent],
      reopened),
    ConformanceCheck("tally-of-expired", "expired entries are counted until they are removed", expired),
    ConformanceCheck("tally-ends-of-time", "entries at either end of the range of times are counted", ends),
    ConformanceCheck("tally-slot-borders", "entries on either side of a slot's border are counted apart", borders),
    ConformanceCheck("tally-of-failed-batches", "a batch that fails leaves the tally as it was", failed),
    ConformanceCheck(
      "tally-shared", "each handle counts what others have written", requires: [.shared], shared),
  ]

  /// Times around the limits of slots and of the range of times.
  private static let times: [Timestamp] = {
    let width = Int64(1) << 20
    let slot = Sample.start.milliseconds / width * width + 4 * width
    let numbers = [0, 1, width - 1, width, slot - 1, slot, slot + width - 1, slot + width, .max - width, .max]
    return numbers.map { Timestamp(milliseconds: $0) }
  }()

  private static func entry(freshUntil: Timestamp, retainUntil: Timestamp, size: Int = 1) -> Entry {
    let metadata = EntryMetadata(
      storedAt: Sample.start, freshUntil: freshUntil, retainUntil: retainUntil, contentType: "")
    return Entry(payload: .init(repeating: 7, count: size), metadata: metadata)
  }

  /// Throws a failure unless `engine` counts exactly `entries`; expired ones may be gone.
  private static func expectCounted(
    _ engine: any StorageEngine, _ entries: [CacheKey: Entry], _ context: ConformanceContext
  ) async throws {
    let now = context.clock.now
    var there = Set(try await engine.scanAll().map(\.key))
    while true {
      do {
        return try await engine.expectStatistics(
          entries.filter { there.contains($0.key) || $0.value.metadata.state(at: now) != .expired })
      } catch {
        // A server may have dropped an expired entry between the two calls.
        let before = there
        there = Set(try await engine.scanAll().map(\.key))
        if there == before { throw error }
      }
    }
  }

  /// Applies random batches and compacts occasionally, each time through the handle from `next`.
  private static func run(
    _ context: ConformanceContext, batches: Int, _ next: (_ number: Int) async throws -> any StorageEngine
  ) async throws {
    var generator = context.generator()
    let keys = try SeededGenerator.pool()
    var entries: [CacheKey: Entry] = [:]
    for number in 1...batches {
      let engine = try await next(number)
      var batch = WriteBatch()
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        guard let key = keys.randomElement(using: &generator) else { continue }
        let entry = generator.happens(70) ? generator.entry(times) : nil
        entries[key] = entry
        if let entry { batch.put(key, entry) } else { batch.remove(key) }
      }
      try await engine.apply(batch)
      try await expectCounted(engine, entries, context)
      guard number.isMultiple(of: 10) else { continue }
      try await engine.compact()
      entries = entries.filter { $0.value.metadata.retainUntil > context.clock.now }
      try await expectCounted(try await next(number), entries, context)
    }
  }

  private static func random(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    try await run(context, batches: 60 * context.rounds) { _ in engine }
  }

  private static func reopened(_ context: ConformanceContext) async throws {
    var engine = try await context.open()
    try await run(context, batches: 20 * context.rounds) { _ in
      engine = try await context.reopen(engine)
      return engine
    }
  }

  private static func expired(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    var entries: [CacheKey: Entry] = [:]
    for (number, key) in try (Sample.keys(30) + Sample.keys(10, namespace: "movies")).enumerated() {
      entries[key] = Sample.entry(number, retainedFor: .seconds(number * 600 + 1))
    }
    try await engine.put(entries.map { ($0.key, $0.value) })
    for seconds in [1, 6_000, 6_001, 20_000, 24_000] {
      context.clock.set(Sample.start.advanced(by: .seconds(seconds)))
      try await expectCounted(engine, entries, context)
      try await engine.compact()
      entries = entries.filter { $0.value.metadata.retainUntil > context.clock.now }
      try await engine.expectStatistics(entries)
    }
  }

  private static func ends(_ context: ConformanceContext) async throws {
    // What ends at 0 or 1 has expired: a server keeps it for a while only.
    context.clock.set(Timestamp(milliseconds: 2))
    var engine = try await context.open()
    let ends = [Timestamp(milliseconds: 0), Timestamp(milliseconds: 1), .distantFuture]
    var entries: [CacheKey: Entry] = [:]
    for (number, key) in try Sample.keys(9).enumerated() {
      entries[key] = entry(freshUntil: ends[number % 3], retainUntil: ends[number / 3], size: number)
      guard let entry = entries[key] else { continue }
      try await engine.put(key, entry)
      try await expectCounted(engine, entries, context)
    }
    if context.subject.capabilities.contains(.persistent) { engine = try await context.reopen(engine) }
    try await expectCounted(engine, entries, context)
    context.clock.set(.distantFuture)
    try await engine.compact()
    try await engine.expectStatistics([:])
  }

  private static func borders(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    var entries: [CacheKey: Entry] = [:]
    let border = times[5]
    for (number, key) in try Sample.keys(9).enumerated() {
      let fresh = border.advanced(by: .milliseconds(number % 3 - 1))
      let retain = border.advanced(by: .milliseconds(number / 3 - 1))
      entries[key] = entry(freshUntil: fresh, retainUntil: retain)
    }
    try await engine.put(entries.map { ($0.key, $0.value) })
    try await engine.expectStatistics(entries)
    for key in entries.keys.sorted() {
      entries[key] = nil
      try await engine.remove(key)
      try await engine.expectStatistics(entries)
    }
  }

  private static func failed(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let keys = try Sample.keys(3)
    let entries = Dictionary(uniqueKeysWithValues: keys.map { ($0, Sample.entry(1)) })
    try await engine.put(entries.map { ($0.key, $0.value) })
    var batch = WriteBatch()
    batch.put(keys[0], entry(freshUntil: times[4], retainUntil: times[5], size: 900))
    batch.remove(keys[1])
    batch.put(try CacheKey("movies/a"), Sample.entry(2))
    batch.require(keys[2], .absent)
    for _ in 0..<3 {
      try await expectError(.conflict, "a batch that fails") { try await engine.apply(batch) }
      try await engine.expectStatistics(entries)
    }
  }

  private static func shared(_ context: ConformanceContext) async throws {
    let handles = [try await context.open(), try await context.open()]
    try await run(context, batches: 20 * context.rounds) { number in handles[number % 2] }
  }
}

extension SeededGenerator {
  /// An entry whose times are each one of `times`, or random.
  fileprivate mutating func entry(_ times: [Timestamp]) -> Entry {
    let (fresh, retain) = (time(times), time(times))
    let metadata = EntryMetadata(
      storedAt: fresh, freshUntil: fresh, retainUntil: retain, contentType: "", checksum: next())
    return Entry(payload: bytes(Int.random(in: 0...300, using: &self)), metadata: metadata)
  }

  private mutating func time(_ times: [Timestamp]) -> Timestamp {
    if happens(50) { return times[Int.random(in: 0..<times.count, using: &self)] }
    return Timestamp(milliseconds: Int64.random(in: 0...Timestamp.distantFuture.milliseconds, using: &self))
  }
}
