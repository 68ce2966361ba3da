import FetchVocabulary
import EngineConformance
import EngineAPI
import TestStorage
import Testing

@testable import CacheCore

/// Making entries stale instead of removing them.
struct SofteningTests {
  private let now = Timestamp(milliseconds: 1_000_000)

  private func entry(_ key: String, fresh: Int = 60, kept: Int = 300, bytes: Int = 3) throws -> ExportedEntry {
    let metadata = EntryMetadata(
      storedAt: now.advanced(by: .seconds(-5)), freshUntil: now.advanced(by: .seconds(fresh)),
      retainUntil: now.advanced(by: .seconds(kept)), contentType: "x", attributes: ["etag": "1"])
    return try GeneratedEntries.sealed(key, [UInt8](repeating: 7, count: bytes), metadata)
  }

  private func administration(_ test: TestStore) -> StoreAdministration {
    StoreAdministration(test.store)
  }

  /// The entry after softening: only the end of its freshness differs.
  private func softened(_ entry: ExportedEntry) throws -> ExportedEntry {
    var metadata = entry.metadata
    metadata.freshUntil = now
    return try GeneratedEntries.sealed(entry.key.text, entry.payload, metadata)
  }

  @Test(arguments: [false, true])
  func whatIsFreshAndSelectedIsMadeStale(dryRun: Bool) async throws {
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

  @Test func anInterruptionSaysHowFarItCame() async throws {
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
  @Test func whatAnotherWriterChangedIsLookedAtAgain() async throws {
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
    let code = await errorCode { () async throws(CacheError) in
      _ = try await administration.change(.makeStale, EntrySelection(), dryRun: false)
    }
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
