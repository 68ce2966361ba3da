import CacheData
import CacheDomain
import ResponseStorage
import StorageConformance
import StorageSPI
import TestStorage
import Testing

struct StatisticsTests {
  @Test(arguments: [0, 1, 999, 1_000, 1_001, 2_600])
  func statesAreCountedOverAllPages(count: Int) async throws {
    let store = try await GeneratedStore(seed: 21, count: count)
    let report = try await store.administration.statistics()
    for state in EntryState.allCases {
      #expect(report.count(state) == store.expected(EntrySelection(state: state)).count, "seed 21, \(state)")
    }
    #expect(report.tally.total().entries == count)
    #expect(report.tally.total().payloadBytes == store.model.reduce(0) { $0 + $1.payloadBytes })
    #expect(report.operations == OperationCounts(hits: 1, misses: 2, evictions: 3))
  }

  @Test func statesFollowTheClock() async throws {
    let test = try await TestStore()
    let request = CitiesRequestDTO(origin: "o", query: CitiesQuery())
    try await test.cities.store(CitiesPageDTO(.sample), head: test.head(), for: request)
    let administration = StoreAdministration(store: test.store, ledger: FakeLedger())
    for (seconds, state) in [(0, EntryState.fresh), (60, .stale), (300, .expired)] {
      test.clock.set(Timestamp(milliseconds: Int64(1_000 + seconds) * 1_000))
      let report = try await administration.statistics()
      #expect(EntryState.allCases.map(report.count) == EntryState.allCases.map { $0 == state ? 1 : 0 })
      let key = try #require(try await test.onlyKey())
      let entry = try #require(try await administration.entry(key))
      #expect(entry.summary.metadata.state(at: entry.readAt) == state, "an expired entry is shown too")
    }
  }

  /// An entry that `ls` and `show` call stale counts as stale here too.
  @Test func whatWasStoredAheadOfTheClockIsStale() async throws {
    let test = try await TestStore()
    let request = CitiesRequestDTO(origin: "o", query: CitiesQuery())
    let administration = StoreAdministration(store: test.store, ledger: FakeLedger())
    let now = test.clock.now
    for (ahead, state) in [(0, EntryState.fresh), (60, .fresh), (61, .stale), (864_000, .stale)] {
      test.clock.set(now.advanced(by: .seconds(ahead)))
      let head = test.head(fresh: .seconds(864_000), kept: .seconds(8_640_000))
      try await test.cities.store(CitiesPageDTO(.sample), head: head, for: request)
      test.clock.set(now)
      let listed = try await administration.list(EntrySelection(state: state), after: nil, limit: 10)
      #expect(listed.entries.count == 1, "\(ahead) s ahead")
      #expect(try await administration.statistics().count(state) == 1, "\(ahead) s ahead")
    }
  }

  /// Entries that become stale, and later expire, one per second: with this many in one slot, the states are estimated.
  @Test(arguments: [10_000, 10_001])
  func statesOfManyAreEstimated(count: Int) async throws {
    let test = try await TestStore()
    let slot = Int64(1) << EntryTally.slotBits
    for first in stride(from: 0, to: count, by: 1_000) {
      var batch = WriteBatch()
      for number in first..<min(first + 1_000, count) {
        let time = slot * 1_000 + Int64(number) * slot / Int64(count)
        let metadata = EntryMetadata(
          storedAt: Timestamp(milliseconds: 0), freshUntil: Timestamp(milliseconds: time),
          retainUntil: Timestamp(milliseconds: time + 3 * slot), contentType: "text/plain")
        batch.put(try CacheKey("cities/\(number)"), payload: [1], metadata: metadata)
      }
      try await test.engine.apply(batch)
    }
    let administration = StoreAdministration(store: test.store, ledger: FakeLedger())
    for (time, passed, rest) in [(slot * 1_000, EntryState.stale, EntryState.fresh), (slot * 1_003, .expired, .stale)] {
      test.clock.set(Timestamp(milliseconds: time + slot / 4))
      let report = try await administration.statistics()
      #expect(report.isEstimated == (count > 10_000))
      #expect(abs(report.count(passed) - count / 4) <= 1 && report.count(passed) + report.count(rest) == count)
    }
    test.clock.set(Timestamp(milliseconds: slot * 1_002))
    #expect(try await administration.statistics().count(.stale) == count)
    #expect(try await !administration.statistics().isEstimated)
  }

  @Test func aLedgerThatFailsIsAnError() async throws {
    let test = try await TestStore()
    let ledger = FakeLedger(error: CacheError(.ioFailed, "the disk is gone"))
    let code = await errorCode { () async throws(CacheError) in
      _ = try await StoreAdministration(store: test.store, ledger: ledger).statistics()
    }
    #expect(code?.rawValue == "ioFailed")
  }

  @Test func administrationDoesNotCountAsUse() async throws {
    let store = try await GeneratedStore(seed: 22, count: 10)
    _ = try await store.administration.list(EntrySelection(), after: nil, limit: 10)
    _ = try await store.administration.remove(keys: [store.model[0].key], dryRun: false)
    _ = try await store.administration.statistics()
    _ = try await store.administration.entry(try CacheKey("cities/none"))
    #expect(store.test.store.operations.take() == OperationCounts())
  }
}
