import EngineAPI
import EngineConformance
import FetchVocabulary
import TestStorage
import Testing
@testable import CacheCore

struct RemovalTests {
  private func left(_ store: GeneratedStore) async throws -> [ScannedEntry] {
    try await store.test.engine.scan(ScanRequest(limit: 10_000)).entries
  }

  private func payloadBytes(_ entries: [ScannedEntry]) -> Int { entries.reduce(0) { $0 + $1.payloadBytes } }

  static let selections = [
    EntrySelection(), EntrySelection(namespace: "movies"), EntrySelection(namespace: "none"),
    EntrySelection(prefix: "mov"), EntrySelection(state: .expired), EntrySelection(minimumAge: .seconds(10)),
    EntrySelection(namespace: "movies", prefix: "movies/v1", state: .fresh, minimumAge: .seconds(2)),
    EntrySelection(namespace: "movies", prefix: "cities"), EntrySelection(pattern: GlobPattern("m*/v1/*4*")),
  ]

  @Test(arguments: selections) func exactlyTheSelectedEntriesAreRemoved(selection: EntrySelection) async throws {
    let store = try await GeneratedStore(seed: 11)
    let expected = store.expected(selection)
    let planned = try await store.administration.change(.remove, selection, dryRun: true)
    #expect(try await left(store) == store.model, "a dry run removes nothing")
    let removed = try await store.administration.change(.remove, selection, dryRun: false)
    #expect(planned == removed)
    #expect(removed.entries == expected.count)
    #expect(removed.payloadBytes == payloadBytes(expected))
    #expect(removed.missing.isEmpty)
    let gone = Set(expected.map(\.key))
    #expect(try await left(store) == store.model.filter { !gone.contains($0.key) })
    #expect(try await store.administration.change(.remove, selection, dryRun: false).entries == 0)
  }

  /// Another process may update an expired, stale or old entry after it is listed and before it is removed.
  @Test(arguments: [
    EntrySelection(state: .expired), EntrySelection(state: .stale), EntrySelection(minimumAge: .seconds(10)),
  ])
  func entriesNoLongerSelectedStay(selection: EntrySelection) async throws {
    let store = try await GeneratedStore(seed: 16, count: 60)
    let (expected, now) = (store.expected(selection), store.test.clock.now)
    let renewed = try #require(expected.first)
    let metadata = EntryMetadata(
      storedAt: now, freshUntil: now.advanced(by: .seconds(60)), retainUntil: now.advanced(by: .seconds(60)),
      contentType: "application/json", checksum: 1)
    var faster = WriteBatch()
    faster.put(renewed.key, payload: [1], metadata: metadata)
    store.test.engine.overtake(by: faster)
    let report = try await store.administration.change(.remove, selection, dryRun: false)
    #expect(report.entries == expected.count - 1)
    #expect(report.payloadBytes == payloadBytes(expected) - renewed.payloadBytes)
    let gone = Set(expected.map(\.key))
    let kept = ScannedEntry(key: renewed.key, metadata: metadata, payloadBytes: 1)
    let others = store.model.filter { !gone.contains($0.key) }
    #expect(try await left(store) == (others + [kept]).sorted { $0.key < $1.key })
  }

  /// An entry that was written again but is still selected is removed. Entries that others have removed do not matter.
  @Test func entriesStillSelectedAreRemoved() async throws {
    let store = try await GeneratedStore(seed: 17, count: 60)
    let selection = EntrySelection(state: .expired)
    let expected = store.expected(selection)
    var (changed, faster) = (expected[0].metadata, WriteBatch())
    changed.checksum = 1
    faster.put(expected[0].key, payload: [1], metadata: changed)
    faster.remove(expected[1].key)
    store.test.engine.overtake(by: faster)
    let report = try await store.administration.change(.remove, selection, dryRun: false)
    #expect(report.entries == expected.count - 1)
    #expect(try await left(store) == store.model.filter { !expected.contains($0) })
  }

  @Test func anInterruptedRemovalReportsItsProgress() async throws {
    let store = try await GeneratedStore(seed: 18)
    store.test.engine.cancelCaller(after: 1)
    let task = Task {
      await #expect(throws: CacheError.self) {
        _ = try await store.administration.change(.remove, EntrySelection(), dryRun: false)
      }
    }
    let error = await task.value
    let removed = store.model.count - (try await left(store).count)
    #expect(removed > 1 && removed < store.model.count)
    #expect(error?.code == .cancelled)
    #expect(error?.message == "the command was interrupted: \(removed) entries were removed")
  }

  /// Another process removes the same entries at the same time: each counts its own.
  @Test(arguments: [EntrySelection(), EntrySelection(namespace: "movies"), EntrySelection(state: .expired)])
  func entriesRemovedByOthersAreNotCounted(selection: EntrySelection) async throws {
    let store = try await GeneratedStore(seed: 19, count: 600)
    let expected = store.expected(selection)
    var faster = WriteBatch()
    for entry in expected.prefix(3) { faster.remove(entry.key) }
    store.test.engine.overtake(by: faster)
    let report = try await store.administration.change(.remove, selection, dryRun: false)
    #expect(report.entries == expected.count - 3)
    #expect(report.payloadBytes == payloadBytes(Array(expected.dropFirst(3))))
    #expect(try await left(store) == store.model.filter { !expected.contains($0) })
  }

  @Test func keysThatOthersRemoveAreNotCounted() async throws {
    let store = try await GeneratedStore(seed: 20, count: 20)
    let keys = store.model.prefix(4).map(\.key)
    var faster = WriteBatch()
    faster.remove(keys[0])
    store.test.engine.overtake(by: faster)
    let report = try await store.administration.change(.remove, keys: Array(keys), dryRun: false)
    #expect(report.entries == 3 && report.missing == [keys[0]])
    #expect(try await left(store) == Array(store.model.dropFirst(4)))
  }

  @Test(arguments: [true, false]) func writersThatAreAlwaysFasterDoNotKeepAnEntry(isNamed: Bool) async throws {
    let store = try await GeneratedStore(seed: 21, count: 20)
    let key = store.model[0].key
    store.test.engine.beforeBatches { base throws(CacheError) in
      let time = Timestamp(milliseconds: 1)
      try await base.put(key, [], EntryMetadata(storedAt: time, until: time, checksum: .random(in: 0 ... .max)))
    }
    let report =
      isNamed
      ? try await store.administration.change(.remove, keys: [key], dryRun: false)
      : try await store.administration.change(.remove, EntrySelection(), dryRun: false)
    #expect(report.entries == (isNamed ? 1 : 20))
    #expect(try await left(store).count == (isNamed ? 19 : 0))
  }

  /// A removal may have to write more than it frees, and a small one less than a large one.
  @Test(arguments: [1, 3, 700]) func onAFullDiskRemovalsAreMadeInParts(fitting: Int) async throws {
    let store = try await GeneratedStore(seed: 22, count: 1_500)
    store.test.engine.faults.before = { call, _ throws(CacheError) in
      guard case .apply(let batch) = call else { return }
      let count = batch.operations.count { if case .remove = $0 { true } else { false } }
      if count > fitting { throw CacheError(.noSpace, "the disk is full") }
    }
    let keys = store.model.prefix(20).map(\.key)
    #expect(try await store.administration.change(.remove, keys: keys, dryRun: false).entries == 20)
    #expect(try await store.administration.change(.remove, EntrySelection(), dryRun: false).entries == 1_480)
    #expect(try await left(store).isEmpty)
  }

  @Test func withoutRoomForOneRemovalItFails() async throws {
    let store = try await GeneratedStore(seed: 23, count: 50)
    store.test.engine.faults.before = { call, _ throws(CacheError) in
      if case .apply = call { throw CacheError(.noSpace, "the disk is full") }
    }
    let administration = store.administration
    #expect(
      await errorCode { _ = try await administration.change(.remove, EntrySelection(), dryRun: false) } == .noSpace)
    #expect(store.test.engine.batches.count <= 1 + 7)
  }

  @Test func removingNeedsNoMoreMemoryThanOnePage() async throws {
    let store = try await GeneratedStore(seed: 12)
    _ = try await store.administration.change(.remove, EntrySelection(), dryRun: false)
    #expect(try await left(store).isEmpty)
    // The first batch filled the store.
    #expect(store.test.engine.batches.count == 1 + 3)
  }

  @Test(arguments: [true, false]) func keysAreRemovedAndMissingOnesNamed(dryRun: Bool) async throws {
    let store = try await GeneratedStore(seed: 13, count: 20)
    let missing = [try CacheKey("cities/v0/b"), try CacheKey("cities/v0/a")]
    let chosen = [store.model[3], store.model[17], store.model[0]]
    let keys = chosen.map(\.key) + missing + [store.model[3].key, missing[0]]
    let report = try await store.administration.change(.remove, keys: keys, dryRun: dryRun)
    #expect(report.entries == 3)
    #expect(report.payloadBytes == payloadBytes(chosen))
    #expect(report.missing == missing.sorted())
    let gone = Set(chosen.map(\.key))
    #expect(try await left(store) == (dryRun ? store.model : store.model.filter { !gone.contains($0.key) }))
  }
}

/// Making entries stale instead of removing them.
struct SofteningTests {
  private let now = Timestamp(milliseconds: 1_000_000)

  private func entry(_ key: String, fresh: Int = 60, kept: Int = 300, bytes: Int = 3) throws -> ExportedEntry {
    let metadata = EntryMetadata(
      storedAt: now.advanced(by: .seconds(-5)), freshUntil: now.advanced(by: .seconds(fresh)),
      retainUntil: now.advanced(by: .seconds(kept)), contentType: "x", attributes: ["etag": "1"])
    return try GeneratedEntries.sealed(key, [UInt8](repeating: 7, count: bytes), metadata)
  }

  private func administration(_ test: TestStore) -> StoreAdministration { StoreAdministration(test.store) }

  /// The entry after softening: only the end of its freshness differs.
  private func softened(_ entry: ExportedEntry) throws -> ExportedEntry {
    var metadata = entry.metadata
    metadata.freshUntil = now
    return try GeneratedEntries.sealed(entry.key.text, entry.payload, metadata)
  }

  @Test(arguments: [false, true]) func freshSelectedEntriesAreMadeStale(dryRun: Bool) async throws {
    let test = try await TestStore()
    let (fresh, other) = (try entry("cities/v1/a"), try entry("movies/v1/a"))
    let (stale, expired) = (try entry("cities/v1/b", fresh: -1), try entry("cities/v1/c", fresh: -9, kept: -1))
    try await test.engine.store([fresh, stale, expired, other])
    let report = try await administration(test).change(.makeStale, EntrySelection(namespace: "cities"), dryRun: dryRun)
    #expect(report.entries == 1 && report.payloadBytes == 3 && report.missing.isEmpty && report.damaged.count == 0)
    let expected = [dryRun ? fresh : try softened(fresh), stale, expired, other]
    #expect(try await test.engine.allEntries() == expected)
    // The entry is intact, stale, and kept as long as before.
    let found = try await administration(test).entry(fresh.key)
    #expect(found?.summary.metadata.state(at: now) == (dryRun ? .fresh : .stale))
    #expect(found?.summary.metadata.retainUntil == fresh.metadata.retainUntil)
  }

  @Test func anInterruptionReportsTheProgress() async throws {
    let test = try await TestStore()
    try await test.engine.store((0..<1_500).map { try entry("cities/v1/\($0)") })
    test.engine.cancelCaller(after: 1)
    let administration = administration(test)
    let task = Task {
      await #expect(throws: CacheError.self) {
        _ = try await administration.change(.makeStale, EntrySelection(), dryRun: false)
      }
    }
    let error = await task.value
    #expect(error?.code == .cancelled)
    #expect(error?.message == "the command was interrupted: 1000 entries were made stale")
  }

  @Test func keysThatAreMissingAreNamed() async throws {
    let test = try await TestStore()
    let (fresh, stale) = (try entry("cities/v1/a"), try entry("cities/v1/b", fresh: -1))
    try await test.engine.store([fresh, stale])
    let missing = try CacheKey("cities/v1/none")
    let report = try await administration(test).change(
      .makeStale, keys: [missing, stale.key, fresh.key], dryRun: false)
    #expect(report.entries == 1 && report.missing == [missing])
    #expect(try await test.engine.allEntries() == [try softened(fresh), stale])
  }

  /// An entry that another process has stored since the listing must not be made stale.
  @Test func entriesChangedByAnotherWriterAreReadAgain() async throws {
    let test = try await TestStore()
    let (first, second) = (try entry("cities/v1/a"), try entry("cities/v1/b"))
    try await test.engine.store([first, second])
    let renewed = try entry("cities/v1/a", fresh: 90, bytes: 4)
    var faster = WriteBatch()
    faster.put(renewed.key, payload: renewed.payload, metadata: renewed.metadata)
    faster.remove(second.key)
    test.engine.overtake(by: faster)
    let report = try await administration(test).change(.makeStale, EntrySelection(), dryRun: false)
    #expect(report.entries == 1 && report.payloadBytes == 4)
    #expect(try await test.engine.allEntries() == [try softened(renewed)])
  }

  @Test func writersThatAreAlwaysFasterEndIt() async throws {
    let test = try await TestStore()
    try await test.engine.store([entry("cities/v1/a")])
    test.engine.refuse(1_000)
    let administration = administration(test)
    let code = await errorCode { _ = try await administration.change(.makeStale, EntrySelection(), dryRun: false) }
    #expect(code?.rawValue == "conflict")
  }

  @Test(arguments: [true, false]) func entriesWithDamagedMetadataAreLeftAndNamed(isNamed: Bool) async throws {
    let test = try await TestStore()
    let intact = try entry("cities/v1/a")
    let other = try entry("cities/v1/b")
    var metadata = other.metadata
    metadata.contentType = "y"
    let damaged = ExportedEntry(key: other.key, metadata: metadata, payload: other.payload)
    try await test.engine.store([intact, damaged])
    let report =
      isNamed
      ? try await administration(test).change(.makeStale, keys: [intact.key, damaged.key], dryRun: false)
      : try await administration(test).change(.makeStale, EntrySelection(), dryRun: false)
    #expect(report.entries == 1 && report.damaged.first == [damaged.key])
    #expect(try await test.engine.allEntries() == [try softened(intact), damaged])
  }

  /// The damage to a payload is still found afterwards, because its checksum stays.
  @Test func payloadsAreNeitherReadNorWritten() async throws {
    let test = try await TestStore()
    let entries = try (1...5).map { try entry("cities/v1/\($0)", bytes: 3 << 20) }
    try await test.engine.store(entries)
    let damaged = ExportedEntry(key: entries[4].key, metadata: entries[4].metadata, payload: [1])
    try await test.engine.store([damaged])
    let before = test.engine.batches.count
    #expect(try await administration(test).change(.makeStale, EntrySelection(), dryRun: false).entries == 5)
    #expect(test.engine.reads == 0 && test.engine.requests.allSatisfy { !$0.includesPayloads })
    #expect(test.engine.batches.count == before + 1)
    let isUpdate = test.engine.batches[before].operations.map { if case .update = $0 { true } else { false } }
    #expect(isUpdate == Array(repeating: true, count: 5))
    #expect(try await administration(test).verify().issues.map(\.key) == [damaged.key])
  }
}

struct CompactionTests {
  private func left(_ store: GeneratedStore) async throws -> [ScannedEntry] {
    try await store.test.engine.scan(ScanRequest(limit: 10_000)).entries
  }

  /// Other processes remove expired entries and others meanwhile: before the first batch, and while the engine compacts.
  @Test func onlyItsOwnRemovalsAreCounted() async throws {
    let store = try await GeneratedStore(seed: 31, count: 600)
    let expired = store.expected(EntrySelection(state: .expired))
    let others = store.model.filter { !expired.contains($0) }
    let (first, last) = (try #require(others.first).key, try #require(others.last).key)
    store.test.engine.faults.before = { [engine = store.test.engine] call, base throws(CacheError) in
      var faster = WriteBatch()
      switch call {
      case .apply where engine.batches.count == 2: for key in [expired[0].key, first] { faster.remove(key) }
      case .compact: faster.remove(last)
      default: return
      }
      try await base.apply(faster)
    }
    let report = try await store.administration.compact()
    #expect(report.removed == expired.count - 1)
    let (before, after) = (try #require(report.before), try #require(report.after))
    #expect(before.entries - after.entries == expired.count + 2)
    #expect(try await left(store) == Array(others.dropFirst().dropLast()))
  }

  @Test func itStopsBetweenTwoBatchesAndBeforeItReturnsSpace() async throws {
    // Six pages, each with some expired entries.
    for batches in [1, 6] {
      let store = try await GeneratedStore(seed: 32, count: 5_500)
      let expired = store.expected(EntrySelection(state: .expired))
      store.test.engine.cancelCaller(after: batches)
      store.test.engine.faults.before = { call, _ in
        if case .compact = call { Issue.record("no space is returned any more") }
      }
      let task = Task { await #expect(throws: CacheError.self) { _ = try await store.administration.compact() } }
      let error = await task.value
      let removed = store.model.count - (try await left(store).count)
      #expect(batches == 1 ? removed < expired.count : removed == expired.count)
      #expect(error?.code == .cancelled)
      #expect(error?.message == "the command was interrupted: \(removed) entries were removed")
    }
  }
}
