import EngineSupport
import FetchVocabulary
import ResponseStorage
import StorageConformance
import StorageSPI
import TestStorage
import Testing

@Suite("An engine has lost one of its servers") struct LostServerTests {
  private static let isLost: @Sendable (CacheKey) -> Bool = { $0.text.utf8.count.isMultiple(of: 2) }

  private static func administration(_ engine: any StorageEngine, _ generated: GeneratedStore) -> StoreAdministration {
    StoreAdministration(store: EntryStore(engine: engine, clock: generated.test.clock), ledger: FakeLedger())
  }

  @Test("A listing has what the others have, and says what is missing", arguments: [1, 999, 1_001, .max])
  func listing(limit: Int) async throws {
    let store = try await GeneratedStore(seed: 41)
    let lost = LostServerEngine(over: store.test.engine, Self.isLost)
    for selection in [
      EntrySelection(), EntrySelection(namespace: "movies", state: .stale), EntrySelection(prefix: "z"),
    ] {
      let expected = store.expected(selection).filter { !Self.isLost($0.key) }
      let found = try await Self.administration(lost, store).list(selection, after: nil, limit: limit)
      #expect(found.entries == Array(expected.prefix(limit)), "seed 41, \(selection)")
      #expect((found.cursor == nil) == (expected.count <= limit))
      #expect(found.damage.unreachable == LostServerEngine.missing && !found.damage.isEmpty)
      let sorted = try await Self.administration(lost, store).list(selection, by: .size, limit: limit)
      #expect(sorted.entries.count == min(limit, expected.count))
      #expect(sorted.damage.unreachable == LostServerEngine.missing)
      let error = #expect(throws: CacheError.self) { try found.damage.requireReached() }
      #expect(error?.code == .unreachable && error?.message == LostServerEngine.missing)
    }
  }

  @Test("Statistics count what the others have, and say what is missing")
  func statistics() async throws {
    let store = try await GeneratedStore(seed: 42)
    let lost = LostServerEngine(over: store.test.engine, Self.isLost)
    let report = try await Self.administration(lost, store).statistics()
    for state in EntryState.allCases {
      let expected = store.expected(EntrySelection(state: state)).filter { !Self.isLost($0.key) }
      #expect(report.count(state) == expected.count, "seed 42, \(state)")
    }
    #expect(report.entries == store.model.count { !Self.isLost($0.key) } && report.storageBytes == 77)
    #expect(report.damage.unreachable == LostServerEngine.missing && report.damage.entries.count == 0)
  }

  @Test("Nothing is missing where all servers answer")
  func nothingLost() async throws {
    let store = try await GeneratedStore(seed: 43, count: 10)
    let listing = try await store.administration.list(EntrySelection(), after: nil, limit: 20)
    let report = try await store.administration.statistics()
    #expect(listing.damage.unreachable == nil && report.damage.unreachable == nil && report.damage.isEmpty)
    try listing.damage.requireReached()
  }

  @Test("Whatever must be complete fails")
  func strictness() async throws {
    let store = try await GeneratedStore(seed: 44, count: 50)
    let lost = LostServerEngine(over: store.test.engine, Self.isLost)
    let administration = Self.administration(lost, store)
    let entries = EntryStore(engine: lost, clock: store.test.clock)
    func expectFailure(_ what: String, _ call: () async throws -> Void) async {
      let error = await #expect(throws: CacheError.self) { try await call() }
      #expect(error?.code == .unreachable, "\(what)")
    }
    await expectFailure("a dry run") { _ = try await administration.remove(EntrySelection(), dryRun: true) }
    await expectFailure("a removal") { _ = try await administration.remove(EntrySelection(), dryRun: false) }
    await expectFailure("a removal of all") { try await administration.removeAll { _ in } }
    await expectFailure("softening") { _ = try await administration.makeStale(EntrySelection(), dryRun: false) }
    await expectFailure("a check") { _ = try await administration.verify() }
    await expectFailure("compaction") { _ = try await administration.compact() }
    await expectFailure("the extent") { _ = try await administration.extent() }
    await expectFailure("the keys") { _ = try await entries.keys(prefix: "movies/") }
    #expect(try await store.test.engine.scan(KeyRange(), limit: 100).count == 50, "nothing was removed")
  }

  @Test("A key whose server answers is removed, though leases on the lost one cannot be listed")
  func removalOfAKey() async throws {
    let store = try await GeneratedStore(seed: 48, count: 50)
    let lost = LostServerEngine(over: store.test.engine, Self.isLost)
    let key = try #require(store.model.first { !Self.isLost($0.key) }).key
    let report = try await Self.administration(lost, store).remove(keys: [key], dryRun: false)
    #expect(report.entries == 1)
    #expect(try await store.test.engine.scan(KeyRange(), limit: 100).count == 49)
  }

  @Test("A damaged entry on another server is passed by, though the engine cannot be asked for all of them")
  func damage() async throws {
    let store = try await GeneratedStore(seed: 45, count: 200)
    let damaged = try #require(store.model.dropFirst(50).first { !Self.isLost($0.key) }).key
    store.test.engine.faults.page = { page, _, _ throws(CacheError) in
      if page.contains(where: { $0.key == damaged }) { throw CacheError(.damaged, "entry \(damaged) is cut off") }
      return page
    }
    let lost = LostServerEngine(over: store.test.engine, Self.isLost)
    let found = try await Self.administration(lost, store).list(EntrySelection(), after: nil, limit: .max)
    #expect(found.entries == store.model.filter { !Self.isLost($0.key) && $0.key != damaged })
    #expect(found.damage.unreachable == LostServerEngine.missing && found.damage.entries.first == [damaged])
  }

  @Test("Layers of the core pass it on")
  func layers() async throws {
    let store = try await GeneratedStore(seed: 46, count: 50)
    let lost = LostServerEngine(over: store.test.engine, Self.isLost)
    let plugin = RegistryPlugin()
    let configuration = try EngineConfiguration(for: plugin.declaration, clock: store.test.clock)
    let awaited = AwaitedEngine(after: CacheError(.unreachable, "away"), clock: store.test.clock) { lost }
    store.test.clock.set(store.test.clock.now.advanced(by: AwaitedEngine.pause))
    for engine: any StorageEngine in [
      RecoveringEngine(lost, plugin, configuration), ReadOnlyLayer(over: plugin).wrap(lost), awaited,
      try await tiered(over: lost),
    ] {
      let found = try await engine.scanReachable(KeyRange(), limit: 100)
      #expect(found.content == store.model.filter { !Self.isLost($0.key) } && found.missing == LostServerEngine.missing)
      #expect(try await engine.reachableStatistics().missing == LostServerEngine.missing)
    }
  }

  private func tiered(over far: any StorageEngine) async throws -> any StorageEngine {
    let plugin = TestPlugin(inner: RegistryPlugin()) { _ in far }
    let layer = TieredLayer(over: plugin, near: RegistryPlugin(), folder: "/near", limits: .standard)
    return try await layer.open(
      try EngineConfiguration(for: plugin.declaration, clock: ManualClock(Timestamp(milliseconds: 0))))
  }

  @Test("The report of a tier says what is missing of it")
  func tiers() async throws {
    let store = try await GeneratedStore(seed: 47, count: 50)
    let lost = LostServerEngine(over: store.test.engine, Self.isLost)
    let engine = try await tiered(over: lost)
    let reporter = try #require(engine.tierReporter)
    let far = try #require(await reporter.tiers().last)
    #expect(far.statistics?.tally.total().entries == store.model.count { !Self.isLost($0.key) })
    #expect(far.failure?.code == .unreachable && far.failure?.message == LostServerEngine.missing)
    try await engine.close()
  }
}
