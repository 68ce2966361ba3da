import FetchVocabulary
import EngineSupport
import StorageConformance
import StorageSPI
import TestStorage
import Testing

@testable import ResponseStorage

/// Reading a store that has been opened and turns out to be damaged.
@Suite struct RecoveringEngineTests {
  /// A store of thirty entries that cannot all be listed, and the engine that reads it.
  private struct DamagedStore {
    let keys: [CacheKey]
    let engine: RecoveringEngine
    let store: EntryStore
    let plugin: DamagedPlugin

    /// - Parameters:
    ///   - lost: the numbers of the entries that a repair loses.
    ///   - failure: the error of the repair's preview.
    ///   - canReopen: whether the store can be opened again.
    init(
      _ damage: (_ keys: [CacheKey]) -> Damage, lost: [Int] = [], failure: CacheError? = nil,
      canReopen: Bool = true
    ) async throws {
      let test = try await TestStore()
      let clock = test.clock
      var entries: [(CacheKey, EntryTable.Entry)] = []
      for number in 0..<30 {
        let key = try CacheKey("\(["cities", "movies", "posters"][number / 10])/v1/page=\(10 + number)")
        var metadata = EntryMetadata(
          storedAt: clock.now, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: "text/plain")
        let payload = [UInt8(number)]
        metadata.checksum = metadata.computedChecksum(key: key, payload: payload.span)
        entries.append((key, EntryTable.Entry(payload: payload, metadata: metadata)))
      }
      var batch = WriteBatch()
      for (key, entry) in entries { batch.put(key, payload: entry.payload, metadata: entry.metadata) }
      keys = entries.map(\.0)
      let other = try await TestStore()
      for engine in [test.engine, other.engine] { try await engine.apply(batch) }
      let (opened, reopened) = (
        FaultyEngine(over: test.engine, damage(keys)), FaultyEngine(over: other.engine, damage(keys))
      )
      let saved = entries.indices.filter { !lost.contains($0) }.map { entries[$0] }
      let issues = lost.map { IntegrityIssue(key: entries[$0].0, kind: .undecodable, message: "lost") }
      plugin = DamagedPlugin(saved, lost: issues, failure: failure, opening: canReopen ? reopened : nil)
      engine = RecoveringEngine(opened, plugin, try EngineConfiguration(for: plugin.declaration, clock: clock))
      store = EntryStore(engine: engine, clock: clock)
    }

    var administration: StoreAdministration { StoreAdministration(store: store, ledger: FakeLedger()) }
  }

  private static let isUnnamed: @Sendable ([CacheKey]) -> Damage = { keys in
    Damage(entries: [keys[13]], isNamed: false)
  }

  @Test(arguments: [[], [13], [13, 20]])
  func aWalkThatMeetsDamageGoesOnOverWhatARepairWouldSave(lost: [Int]) async throws {
    let damaged = try await DamagedStore(Self.isUnnamed, lost: lost)
    var (walk, found) = (StoreWalk(engine: damaged.engine, pageSize: 4), [CacheKey]())
    while let page = try await walk.next() { found += page.map(\.key) }
    #expect(found == damaged.keys.indices.filter { !lost.contains($0) }.map { damaged.keys[$0] })
    #expect(walk.gaps.isEmpty && walk.unreadableEntries.count == 0, "the salvage names what is lost")
    #expect(damaged.store.damage.entries.first == lost.map { damaged.keys[$0] })
    #expect(damaged.store.damage.places.count == (lost.isEmpty ? 1 : 0) && damaged.store.damage.placeCount == 0)
  }

  @Test func everythingThatReadsNamesTheDamageOnce() async throws {
    let damage: ([CacheKey]) -> Damage = { _ in Damage(prefixes: ["movies/"]) }
    for limit in [1, 7, 29, 30] {
      let damaged = try await DamagedStore(damage, lost: [12])
      let (listing, kept) = (
        try await damaged.administration.list(EntrySelection(), after: nil, limit: limit),
        damaged.keys.filter { $0 != damaged.keys[12] }
      )
      #expect(listing.entries.map(\.key) == Array(kept.prefix(limit)))
      #expect(listing.cursor == (limit < 29 ? kept[limit - 1] : nil))
      #expect(listing.damage.entries.first == [damaged.keys[12]] && listing.damage.entries.count == 1)
    }
    let counted = try await DamagedStore(damage, lost: [12])
    let statistics = try await counted.administration.statistics()
    #expect(statistics.tally.total().entries == 29 && statistics.damage.entries.count == 1)
    #expect(statistics.damage.placeCount == 0)
    let exported = try await DamagedStore(damage, lost: [12])
    let export = try await StoreExport(exported.store).run(EntrySelection(), progress: { _, _ in }) { _ in }
    #expect(export.exported == 29 && export.damage == statistics.damage)
  }

  /// The entry is listed before the damage is met, but cannot be read.
  @Test func anEntryThatIsLostIsCountedOnce() async throws {
    let damaged = try await DamagedStore({ Damage(entries: [$0[13]], isListed: true) }, lost: [13])
    var (reading, count) = (EntryReading(damaged.store), 0)
    while try await reading.next() != nil { count += 1 }
    #expect(count == 29 && reading.damage.entries.first == [damaged.keys[13]] && reading.damage.entries.count == 1)
  }

  @Test func whatTheCallerFindsWrongIsNoDamageOfTheStore() async throws {
    let damaged = try await DamagedStore(Self.isUnnamed)
    let error = await #expect(throws: CacheError.self) {
      try await damaged.engine.read(damaged.keys[0]) { _, _ throws(CacheError) in
        throw CacheError(.damaged, "its checksum does not match")
      }
    }
    #expect(error?.code == .damaged && damaged.plugin.passes == 0 && damaged.engine.damage == nil)
  }

  @Test(arguments: [CacheError.Code.unsupported, .busy, .ioFailed])
  func whereNothingTellsWhatARepairWouldSaveTheStoreIsReadOn(code: CacheError.Code) async throws {
    let damaged = try await DamagedStore(Self.isUnnamed, failure: CacheError(code, "no dry run"))
    let listing = try await damaged.administration.list(EntrySelection(), after: nil, limit: 100)
    #expect(listing.entries.map(\.key) == damaged.keys.filter { $0 != damaged.keys[13] })
    #expect(listing.damage.placeCount == 1 && damaged.store.salvageDamage == nil)
  }

  @Test func aCancelledSalvageEndsTheCall() async throws {
    let damaged = try await DamagedStore(Self.isUnnamed, failure: CacheError(.cancelled, "cancelled"))
    let error = await #expect(throws: CacheError.self) { _ = try await damaged.engine.scan(KeyRange(), limit: 100) }
    #expect(error?.code == .cancelled)
  }

  @Test func aCallAfterACancelledSalvageTriesAgain() async throws {
    let damaged = try await DamagedStore(Self.isUnnamed, lost: [13], failure: CacheError(.cancelled, "cancelled"))
    await #expect(throws: CacheError.self) { _ = try await damaged.engine.scan(KeyRange(), limit: 100) }
    damaged.plugin.recover()
    #expect(try await damaged.engine.scan(KeyRange(), limit: 100).count == 29)
  }

  @Test func whatKeepsTheStoreFromBeingOpenedAgainIsReportedByEveryCall() async throws {
    let damaged = try await DamagedStore(
      Self.isUnnamed, failure: CacheError(.unsupported, "no dry run"), canReopen: false)
    for _ in 0..<2 {
      let error = await #expect(throws: CacheError.self) { _ = try await damaged.engine.scan(KeyRange(), limit: 100) }
      #expect(error?.message == "the store is damaged")
    }
    let error = await #expect(throws: CacheError.self) { _ = try await damaged.engine.checkIntegrity() }
    #expect(error?.message == "the store is damaged")
    try await damaged.engine.close()
  }

  @Test func aClosedEngineStaysClosedAfterACancelledSalvage() async throws {
    let damaged = try await DamagedStore(Self.isUnnamed, failure: CacheError(.cancelled, "cancelled"))
    await #expect(throws: CacheError.self) { _ = try await damaged.engine.scan(KeyRange(), limit: 100) }
    try await damaged.engine.close()
    damaged.plugin.recover()
    let error = await #expect(throws: CacheError.self) { _ = try await damaged.engine.scan(KeyRange(), limit: 100) }
    #expect(error?.code == .closed)
  }

  /// A damaged key hides its neighbours from a search.
  @Test func anEntryThatIsListedAndNotFoundIsDamage() async throws {
    let damaged = try await DamagedStore { keys in Damage(hidden: Set(keys[10..<14])) }
    let missing = try CacheKey("cities/v1/page=none")
    var found = 0
    for entry in try await damaged.engine.scan(KeyRange(), limit: 100) {
      if try await damaged.engine.read(entry.key, { bytes, _ in bytes.count }) != nil { found += 1 }
    }
    #expect(found == 30 && damaged.plugin.passes > 0)
    #expect(try await damaged.engine.read(missing) { bytes, _ in bytes.count } == nil)
  }

  /// The listing gives an entry under a damaged key; the salvage has it under the right one.
  @Test(arguments: [0, 13, 29])
  func anEntryThatIsListedUnderADamagedKeyIsReadUnderItsOwn(number: Int) async throws {
    let other = try CacheKey("movies/v1/page=garbled")
    let damaged = try await DamagedStore { keys in Damage(garbled: [keys[number]: other]) }
    var (reading, found) = (EntryReading(damaged.store), [CacheKey]())
    while let entry = try await reading.next() { found.append(entry.key) }
    #expect(found == damaged.keys && reading.damage.entries.count == 0 && !reading.damage.isEmpty)
  }

  @Test func whatIsRemovedAfterAListingIsNoDamage() async throws {
    let damaged = try await DamagedStore { _ in Damage() }
    _ = try await damaged.engine.scan(KeyRange(), limit: 100)
    var batch = WriteBatch()
    batch.remove(damaged.keys[3])
    try await damaged.engine.apply(batch)
    #expect(try await damaged.engine.read(damaged.keys[3]) { bytes, _ in bytes.count } == nil)
    #expect(damaged.plugin.passes == 0)
  }

  @Test func manyCallsAtOnceShareOneSalvage() async throws {
    let damaged = try await DamagedStore(Self.isUnnamed, lost: [13])
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<20 { group.addTask { try await damaged.engine.scan(KeyRange(), limit: 100).count } }
      for try await count in group { #expect(count == 29) }
    }
    #expect(damaged.plugin.passes == 1)
    try await damaged.engine.close()
  }
}
