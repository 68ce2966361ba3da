import FetchVocabulary
import CacheCore
import EngineAPI
import TestStorage
import Testing

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
      let task = Task {
        await #expect(throws: CacheError.self) { _ = try await store.administration.compact() }
      }
      let error = await task.value
      let removed = store.model.count - (try await left(store).count)
      #expect(batches == 1 ? removed < expired.count : removed == expired.count)
      #expect(error?.code == .cancelled)
      #expect(error?.message == "the command was interrupted: \(removed) entries were removed")
    }
  }
}
