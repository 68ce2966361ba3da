import EngineSupport
import FetchVocabulary
import StorageConformance
import StorageSPI
import TestStorage
import Testing

@testable import ResponseStorage

/// Reading a store that is not opened, as a repair would save it.
@Suite struct SalvagedEngineTests {
  private static let reason = CacheError(.damaged, "the store is damaged")

  /// Ten entries of a hundred bytes each, unordered.
  private static func entries() throws -> [CacheKey: EntryTable.Entry] {
    var entries: [CacheKey: EntryTable.Entry] = [:]
    for number in 0..<10 {
      let key = try CacheKey("\(number < 5 ? "cities" : "movies")/v1/page=\(number)")
      entries[key] = try entry(key, storedAt: Int64(number), [UInt8](repeating: UInt8(number), count: 100))
    }
    return entries
  }

  private static func entry(_ key: CacheKey, storedAt: Int64, _ payload: [UInt8]) throws -> EntryTable.Entry {
    var metadata = EntryMetadata(
      storedAt: Timestamp(milliseconds: storedAt), freshUntil: .distantFuture, retainUntil: .distantFuture,
      contentType: "text/plain")
    metadata.checksum = metadata.computedChecksum(key: key, payload: payload.span)
    return EntryTable.Entry(payload: payload, metadata: metadata)
  }

  private func salvage(
    _ plugin: DamagedPlugin, holding bytes: Int = 1_000
  ) async throws -> (engine: SalvagedEngine, store: EntryStore) {
    let clock = ManualClock(Timestamp(milliseconds: 0))
    let configuration = try EngineConfiguration(for: plugin.declaration, clock: clock)
    let engine = try await SalvagedEngine(plugin, configuration, reason: Self.reason, maximumBytes: bytes)
    return (engine, EntryStore(engine: engine, clock: clock))
  }

  private func read(_ key: CacheKey, _ engine: SalvagedEngine) async throws -> EntryTable.Entry? {
    try await engine.read(key) { bytes, metadata in
      EntryTable.Entry(payload: bytes.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
    }
  }

  /// Reading all entries in order takes one search for each such number of payload bytes, and one at the start.
  @Test(arguments: [(1_000, 2), (999, 3), (250, 6), (100, 11), (1, 11)])
  func payloadsAreHeldWithinBounds(bytes: Int, passes: Int) async throws {
    let (entries, plugin) = (try Self.entries(), DamagedPlugin(try Self.entries().map { ($0, $1) }))
    let (engine, _) = try await salvage(plugin, holding: bytes)
    let listed = try await engine.scan(KeyRange(), limit: 100)
    #expect(listed.map(\.key) == entries.keys.sorted())
    for summary in listed { #expect(try await read(summary.key, engine) == entries[summary.key]) }
    #expect(plugin.passes == passes)
    for key in entries.keys { #expect(try await read(key, engine) == entries[key], "in any order: \(key)") }
  }

  @Test(
    arguments: ["", "c", "cities/", "movies/v1/", "movies/v1/page=7", "z"], [nil, "cities/v1/page=3", "movies/v1/z"])
  func rangesAreScannedLikeThoseOfATable(prefix: String, after: String?) async throws {
    var table = EntryTable(try Self.entries())
    let (engine, _) = try await salvage(DamagedPlugin(try Self.entries().map { ($0, $1) }))
    let range = KeyRange(prefix: prefix, after: try after.map { try CacheKey($0) })
    for limit in [1, 3, 100] {
      #expect(try await engine.scan(range, limit: limit) == table.scan(range, limit: limit), "\(limit)")
    }
  }

  @Test func unsoundEntriesAndOlderVersionsAreLeftOut() async throws {
    let (key, other) = (try CacheKey("cities/v1/a"), try CacheKey("cities/v1/b"))
    let (new, old) = (try Self.entry(key, storedAt: 2, [2]), try Self.entry(key, storedAt: 1, [1]))
    let unsound = EntryTable.Entry(payload: [9], metadata: try Self.entry(other, storedAt: 3, [3]).metadata)
    for versions in [[(key, old), (key, new)], [(key, new), (key, old)]] {
      let (engine, _) = try await salvage(DamagedPlugin(versions + [(other, unsound)]))
      #expect(try await engine.scan(KeyRange(), limit: 10).map(\.key) == [key])
      #expect(try await read(key, engine) == new)
    }
  }

  @Test func whatMayBeLostIsNeverAbsent() async throws {
    let entries = try Self.entries().map { ($0, $1) }
    let key = try CacheKey("cities/v1/none")
    let (whole, wholeStore) = try await salvage(DamagedPlugin(entries))
    #expect(try await read(key, whole) == nil, "the report says that nothing is lost")
    #expect(wholeStore.damage.places == [Self.reason.message] && wholeStore.damage.placeCount == 0)
    #expect(!wholeStore.damage.isEmpty && wholeStore.damage.entries.count == 0)
    let lost = [
      IntegrityIssue(key: key, kind: .undecodable, message: "lost"),
      IntegrityIssue(kind: .structure, message: "a hole"),
    ]
    let (partial, store) = try await salvage(DamagedPlugin(entries, lost: lost))
    let error = await #expect(throws: CacheError.self) { _ = try await self.read(key, partial) }
    #expect(error?.code == .damaged && error?.message == Self.reason.message)
    #expect(store.damage.entries.first == [key] && store.damage.places == ["a hole"])
    var reading = EntryReading(store)
    var count = 0
    while try await reading.next() != nil { count += 1 }
    #expect(count == 10 && reading.damage == store.damage)
    let report = try await StoreAdministration(store: store, ledger: FakeLedger(counts: OperationCounts())).statistics()
    #expect(report.tally.total().entries == 10 && report.storageBytes == nil && report.damage == store.damage)
  }

  @Test func anEntryThatIsGoneSinceIsDamaged() async throws {
    let plugin = DamagedPlugin(try Self.entries().map { ($0, $1) })
    let (engine, _) = try await salvage(plugin)
    plugin.removeAll()
    let error = await #expect(throws: CacheError.self) {
      _ = try await self.read(try CacheKey("cities/v1/page=1"), engine)
    }
    #expect(error?.code == .damaged)
  }

  @Test func nothingIsWritten() async throws {
    let (engine, _) = try await salvage(DamagedPlugin([]))
    await #expect(throws: CacheError.self) { try await engine.apply(WriteBatch()) }
    await #expect(throws: CacheError.self) { try await engine.compact() }
    await #expect(throws: CacheError.self) { _ = try await engine.checkIntegrity() }
    try await engine.close()
  }
}
