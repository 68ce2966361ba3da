import FetchVocabulary
import SeededNumbers
import EngineConformance
import EngineAPI
import Synchronization
import TestStorage
import Testing

@testable import CacheCore

struct MigrationTests {
  private func migrate(_ source: TestStore, _ destination: TestStore?, _ options: TransferOptions = TransferOptions())
    async throws(CacheError) -> TransferReport
  { try await source.store.migrate(to: destination?.store, options) { _, _, _ in } }

  private func stores(_ entries: [ExportedEntry]) async throws -> (source: TestStore, destination: TestStore) {
    let stores = (source: try await TestStore(), destination: try await TestStore())
    try await stores.source.engine.store(entries)
    return stores
  }

  private static let now = Timestamp(milliseconds: 1_000_000)

  private static func entry(
    _ key: String, _ text: String = "payload", age: Int = 0, kept: Int = 60
  ) throws -> ExportedEntry {
    let stored = now.advanced(by: .seconds(-age))
    let metadata = EntryMetadata(
      storedAt: stored, freshUntil: stored, retainUntil: now.advanced(by: .seconds(kept)), contentType: "x")
    return try GeneratedEntries.sealed(key, Array(text.utf8), metadata)
  }

  @Test(arguments: Thoroughness.seeds(1, of: 2)) func everyEntryArrivesAndIsCompared(seed: UInt64) async throws {
    let entries = try GeneratedEntries.entries(seed: seed, count: 5_000, at: Self.now)
    let (source, destination) = try await stores(entries + [try Self.entry("leases/v1/a")])
    var stages: [MigrationStage] = []
    let report = try await source.store.migrate(to: destination.store, TransferOptions()) { stage, done, total in
      if stage != stages.last { stages.append(stage) }
      #expect(done <= entries.count && total == entries.count)
    }
    #expect(stages == [.copying, .verifying])
    #expect(report.written == entries.count && report.verified == entries.count)
    #expect(report.bytes == entries.reduce(0) { $0 + $1.payload.count })
    #expect(try await destination.engine.allEntries() == entries.sorted { $0.key < $1.key }, "seed \(seed)")
    #expect(source.engine.batches.count == 1, "only the test has written to the source")
    let changes = try destination.engine.base.changeCount()
    let again = try await migrate(source, destination)
    #expect(again.written == 0 && again.present == entries.count && again.verified == entries.count)
    #expect(try destination.engine.base.changeCount() == changes, "nothing was written again")
    #expect(source.engine.reads == 0, "scans return the payloads")
  }

  @Test func anInterruptedMigrationReportsItsProgress() async throws {
    let (source, destination) = try await stores(try GeneratedEntries.entries(seed: 6, count: 5_000, at: Self.now))
    let task = Task {
      await #expect(throws: CacheError.self) {
        try await source.store.migrate(to: destination.store, TransferOptions()) { _, done, _ in
          if done == 4_500 { withUnsafeCurrentTask { $0?.cancel() } }
        }
      }
    }
    let error = await task.value
    #expect(error?.code == .cancelled)
    #expect(error?.message == "the migration was interrupted: 4096 entries were copied")
  }

  @Test(arguments: [(-61, 10), (10, -61)])
  func anEntryOfUnknownAgeIsNotNewerThanAnIntactOne(sourceAge: Int, destinationAge: Int) async throws {
    let (source, destination) = try await stores([try Self.entry("a/1", "source", age: sourceAge, kept: 300)])
    try await destination.engine.store([try Self.entry("a/1", "destination", age: destinationAge, kept: 300)])
    let report = try await migrate(source, destination)
    #expect(report.different.count == 0)
    let left = try await destination.engine.allEntries().map { String(decoding: $0.payload, as: UTF8.self) }
    #expect(left == [sourceAge < destinationAge ? "destination" : "source"])
    #expect(report.written == (sourceAge < destinationAge ? 0 : 1))
  }

  @Test func aDryRunWritesNothing() async throws {
    let (source, destination) = try await stores([try Self.entry("a/1"), try Self.entry("a/2")])
    try await destination.engine.store([try Self.entry("a/1")])
    for (destination, copied) in [(destination, 1), (nil, 2)] {
      let report = try await migrate(source, destination, TransferOptions(isDryRun: true))
      #expect(report.written == copied && report.present == 2 - copied && report.verified == 0)
    }
    #expect(try await destination.engine.count().entries == 1)
  }

  @Test func anInterruptedMigrationContinues() async throws {
    let entries = try GeneratedEntries.entries(seed: 3, count: 6_000, at: Self.now)
    let (source, destination) = try await stores(entries)
    let task = Task {
      await errorCode {
        _ = try await source.store.migrate(to: destination.store, TransferOptions()) { _, done, _ in
          if done == 5_000 { withUnsafeCurrentTask { $0?.cancel() } }
        }
      }
    }
    #expect(await task.value == .cancelled)
    #expect(try await destination.engine.count().entries == 4_096)
    let report = try await migrate(source, destination)
    #expect(report.written == 6_000 - 4_096 && report.present == 4_096 && report.verified == 6_000)
  }

  @Test(arguments: [false, true]) func newerEntriesAreKept(overwrites: Bool) async throws {
    let (source, destination) = try await stores([
      try Self.entry("a/1", "s", age: 5), try Self.entry("a/2", "s", age: 5),
    ])
    try await destination.engine.store([try Self.entry("a/1", "d", age: 4), try Self.entry("a/2", "d", age: 6)])
    try await destination.engine.store([try Self.entry("a/3", "own")])
    let report = try await migrate(source, destination, TransferOptions(overwrites: overwrites))
    #expect(report.kept == (overwrites ? 0 : 1) && report.different.count == 0)
    #expect(report.verified == (overwrites ? 2 : 1))
    let texts = try await destination.engine.allEntries().map { String(decoding: $0.payload, as: UTF8.self) }
    #expect(texts == [overwrites ? "s" : "d", "s", "own"])
  }

  @Test func expiredEntriesStayBehind() async throws {
    let (source, destination) = try await stores([try Self.entry("a/1", kept: 0), try Self.entry("a/2", kept: 1)])
    let report = try await migrate(source, destination)
    #expect(report.expired == 1 && report.written == 1 && report.verified == 1 && report.different.count == 0)
  }

  @Test func damagedEntriesAreNamedAndTheOthersCopied() async throws {
    let entries = try (0..<50).map { try Self.entry("a/\(100 + $0)") }
    let (source, destination) = try await stores(entries)
    source.engine.alter { $0.key.text.hasSuffix("7") ? ($0.key, $0.payload + [0], $0.metadata) : $0 }
    let report = try await migrate(source, destination)
    #expect(
      report.damaged.count == 5
        && report.damaged.first.map(\.text) == ["07", "17", "27", "37", "47"].map { "a/1\($0)" })
    #expect(report.written == 45 && report.verified == 45 && report.different.count == 0)
  }

  @Test func aDamagedCopyIsReplaced() async throws {
    let entry = try Self.entry("a/1")
    let (source, destination) = try await stores([entry])
    try await destination.engine.store([ExportedEntry(key: entry.key, metadata: entry.metadata, payload: [1])])
    let report = try await migrate(source, destination)
    #expect(report.written == 1 && report.verified == 1)
    #expect(try await destination.engine.allEntries() == [entry])
  }

  /// How a destination changes the entries it was given.
  static let changes: [@Sendable (FaultyEngine.Entry) -> FaultyEngine.Entry] = [
    { ($0.key, $0.payload.dropLast(), $0.metadata) },
    { entry in
      var metadata = entry.metadata
      metadata.freshUntil = metadata.freshUntil.advanced(by: .milliseconds(1))
      return (entry.key, entry.payload, metadata)
    },
    { entry in
      // As if the destination had changed the entry on purpose.
      var metadata = entry.metadata
      metadata.contentType = "y"
      metadata.setChecksums(key: entry.key, payload: entry.payload.span)
      return (entry.key, entry.payload, metadata)
    },
  ]

  @Test(arguments: changes.indices) func aDifferenceIsFound(change: Int) async throws {
    let (source, destination) = try await stores([try Self.entry("a/1"), try Self.entry("a/2")])
    destination.engine.alter { $0.key.text == "a/2" ? Self.changes[change]($0) : $0 }
    let report = try await migrate(source, destination)
    #expect(report.verified == 1 && report.different.first.map(\.text) == ["a/2"])
  }

  @Test func anEntryThatGotLostIsFound() async throws {
    let (source, destination) = try await stores([try Self.entry("a/1"), try Self.entry("a/2")])
    destination.engine.faults.after = { call, base throws(CacheError) in
      guard case .apply(let batch) = call else { return }
      for case .put(let key, _, _) in batch.operations.prefix(2) {
        var removal = WriteBatch()
        removal.remove(key)
        return try await base.apply(removal)
      }
    }
    let report = try await migrate(source, destination)
    #expect(report.written == 2 && report.verified == 1 && report.different.first.map(\.text) == ["a/1"])
  }

  @Test func aFailureOfTheDestinationIsPassedOn() async throws {
    let (source, destination) = try await stores([try Self.entry("a/1")])
    destination.engine.breakDown(CacheError(.noSpace, "full"))
    #expect(await errorCode { _ = try await migrate(source, destination) }?.rawValue == "noSpace")
  }

  @Test func useTravelsAndCountsOnce() async throws {
    let (source, destination) = try await stores([try Self.entry("a/1"), try Self.entry("a/2")])
    let key = try CacheKey("a/1")
    let uses = [AccessHistory(lastUsedAt: Self.now, count: 3), AccessHistory()]
    try source.store.uses.restore([key: uses[0]])
    for _ in 0..<2 {
      _ = try await migrate(source, destination)
      #expect(try destination.store.uses.histories(of: [key, try CacheKey("a/2")]) == uses)
    }
  }
}
