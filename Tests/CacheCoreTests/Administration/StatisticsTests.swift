import CacheData
import CacheDomain
import EngineAPI
import EngineConformance
import FetchVocabulary
import TestStorage
import Testing
@testable import CacheCore

struct StatisticsTests {
  @Test(arguments: [0, 1, 999, 1_000, 1_001, 2_600]) func statesAreCountedOverAllPages(count: Int) async throws {
    let store = try await GeneratedStore(seed: 21, count: count)
    let report = try await store.administration.statistics()
    for state in EntryState.allCases {
      #expect(report.count(state) == store.expected(EntrySelection(state: state)).count, "seed 21, \(state)")
    }
    #expect(report.entries == count)
    #expect(report.payloadBytes == store.model.reduce(0) { $0 + $1.payloadBytes })
    for (namespace, entries) in Dictionary(grouping: store.model, by: \.key.namespace) {
      let payloadBytes = entries.reduce(0) { $0 + $1.payloadBytes }
      let count = try #require(report.count)[namespace]
      #expect(count.entries == entries.count && count.payloadBytes == payloadBytes)
    }
    #expect(report.operations == OperationCounts())
    store.test.store.countLookUp(nil)
    #expect(try await store.administration.statistics().operations == OperationCounts(misses: 1))
  }

  @Test func statesFollowTheClock() async throws {
    let test = try await TestStore()
    let request = CitiesRequestDTO(origin: "o", query: CitiesQuery())
    try await test.cities.store(CitiesPageDTO(.sample), head: test.head(), for: request)
    let administration = StoreAdministration(test.store)
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
  @Test func entriesStoredAheadOfTheClockAreStale() async throws {
    let test = try await TestStore()
    let request = CitiesRequestDTO(origin: "o", query: CitiesQuery())
    let administration = StoreAdministration(test.store)
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

  /// A scan of a larger store takes a while, so its states are only counted on request.
  @Test func statesOfManyAreCountedOnRequest() async throws {
    let test = try await TestStore()
    let administration = StoreAdministration(test.store)
    let metadata = EntryMetadata(
      storedAt: test.clock.now, freshUntil: test.clock.now, retainUntil: .distantFuture, contentType: "")
    for count in [StoreReport.scannedEntries, StoreReport.scannedEntries + 1] {
      var batch = WriteBatch()
      for number in try await test.engine.count().entries..<count {
        batch.put(try CacheKey("cities/\(number)"), payload: [1], metadata: metadata)
      }
      try await test.engine.apply(batch)
      let scans = test.engine.scans
      let report = try await administration.statistics()
      let isCounted = count == StoreReport.scannedEntries
      #expect(report.entries == count && report.count(.stale) == (isCounted ? count : nil))
      #expect(isCounted || test.engine.scans == scans)
    }
    let counted = try await administration.statistics(countingStates: true)
    #expect(EntryState.allCases.map(counted.count) == [0, StoreReport.scannedEntries + 1, 0])
    #expect(try await administration.statistics(countingStates: false).states == nil)
  }

  @Test func leasesAreNotCounted() async throws {
    let store = try await GeneratedStore(seed: 23, count: 3)
    try await store.test.engine.put(try CacheKey("leases/v1/a"), [1, 2], EntryMetadata(storedAt: store.test.clock.now))
    let report = try await store.administration.statistics()
    #expect(report.entries == 3 && EntryState.allCases.reduce(0) { $0 + (report.count($1) ?? 0) } == 3)
    #expect(try #require(report.count).namespaces["leases"] == nil)
  }

  @Test func aFileOfUsesThatCannotBeReadIsAnError() async throws {
    let test = try await TestStore()
    let table = UseTable(path: "/dev/null/" + String(repeating: "x", count: 300), capacity: 1)
    let store = EntryStore(engine: test.engine, clock: test.clock, uses: StoreUse(table))
    let code = await errorCode { _ = try await StoreAdministration(store).statistics() }
    #expect(code?.rawValue == "cannotCreate")
    #expect(try await StoreAdministration(store).statistics(ofAllProcesses: false).operations == OperationCounts())
  }

  @Test func administrationDoesNotCountAsUse() async throws {
    let store = try await GeneratedStore(seed: 22, count: 10)
    _ = try await store.administration.list(EntrySelection(), after: nil, limit: 10)
    _ = try await store.administration.change(.remove, keys: [store.model[0].key], dryRun: false)
    _ = try await store.administration.statistics()
    _ = try await store.administration.entry(try CacheKey("cities/none"))
    #expect(store.test.store.uses.counts == OperationCounts())
  }
}

/// The state in a listing and the freshness in a fetch follow the same rule, on two sides of a boundary that neither
/// imports across.
struct ClockAgreementTests {
  @Test(arguments: [0, 1_000_000, 253_402_300_799_999] as [Int64], [0, 1, 60_000, 600_000] as [Int64])
  func aListingAndAFetchCallTheSameFresh(storedAt: Int64, lifetime: Int64) {
    let stored = Timestamp(milliseconds: storedAt)
    let metadata = EntryMetadata(
      storedAt: stored, freshUntil: Timestamp(milliseconds: storedAt + lifetime),
      retainUntil: .distantFuture, contentType: "")
    for offset: Int64 in [-864_000_000, -60_001, -60_000, -59_999, -1, 0, 1, 59_999, 60_000, 60_001, 600_000] {
      let now = Timestamp(milliseconds: storedAt + offset)
      if now == .distantFuture { continue }
      let age = EntryAge(storedAt: stored.sinceEpoch, freshUntil: metadata.freshUntil.sinceEpoch, now: now.sinceEpoch)
      let isFresh = age.map { $0.remainingFreshness > .zero } ?? false
      #expect((metadata.state(at: now) == .fresh) == isFresh, "\(offset) ms")
      #expect(stored.isAhead(of: now) == (age == nil), "\(offset) ms")
    }
  }
}
