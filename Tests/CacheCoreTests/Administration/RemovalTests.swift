import FetchVocabulary
import CacheCore
import EngineConformance
import EngineAPI
import TestStorage
import Testing

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

  @Test(arguments: selections)
  func exactlyTheSelectedEntriesAreRemoved(selection: EntrySelection) async throws {
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
  func whatIsNoLongerSelectedStays(selection: EntrySelection) async throws {
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
  @Test func whatIsStillSelectedGoes() async throws {
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

  @Test func aRemovalThatIsInterruptedSaysHowFarItCame() async throws {
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
  func whatOthersRemoveIsNotCounted(selection: EntrySelection) async throws {
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
      var faster = WriteBatch()
      faster.put(
        key, payload: [],
        metadata: EntryMetadata(
          storedAt: time, freshUntil: time, retainUntil: time, contentType: "", checksum: .random(in: 0 ... .max)))
      try await base.apply(faster)
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
      let count = batch.operations.count {
        if case .remove = $0 { true } else { false }
      }
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
      await errorCode { () async throws(CacheError) in
        _ = try await administration.change(.remove, EntrySelection(), dryRun: false)
      } == .noSpace)
    #expect(store.test.engine.batches.count <= 1 + 7)
  }

  @Test func removingNeedsNoMoreMemoryThanOnePage() async throws {
    let store = try await GeneratedStore(seed: 12)
    _ = try await store.administration.change(.remove, EntrySelection(), dryRun: false)
    #expect(try await left(store).isEmpty)
    // The first batch filled the store.
    #expect(store.test.engine.batches.count == 1 + 3)
  }

  @Test(arguments: [true, false])
  func keysAreRemovedAndMissingOnesNamed(dryRun: Bool) async throws {
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

  @Test func removingNoKeysDoesNothing() async throws {
    let store = try await GeneratedStore(seed: 14, count: 5)
    let report = try await store.administration.change(.remove, keys: [], dryRun: false)
    #expect(report.entries == 0)
    #expect(report.missing.isEmpty)
    #expect(try await left(store) == store.model)
  }

  @Test func aKeyRemovedIsNotRead() async throws {
    let store = try await GeneratedStore(seed: 15, count: 5)
    // The checksums of generated entries are random, so verified reads find them damaged.
    let key = store.model[2].key
    let administration = store.administration
    #expect(await errorCode { () async throws(CacheError) in _ = try await administration.entry(key) } == .damaged)
    #expect(try await administration.change(.remove, keys: [key], dryRun: false).entries == 1)
    #expect(try await administration.entry(key) == nil)
  }
}
