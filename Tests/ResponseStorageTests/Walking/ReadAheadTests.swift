import EngineSupport
import FetchVocabulary
import StorageConformance
import StorageSPI
import Synchronization
import TestStorage
import Testing

@testable import ResponseStorage

/// Operations on a whole store read many entries in one call, if the engine can.
struct ReadAheadTests {
  private static let now = Timestamp(milliseconds: 1_000_000)

  private struct Subject {
    let engine: BatchReadingEngine
    let store: EntryStore
    var administration: StoreAdministration { StoreAdministration(store: store, ledger: FakeLedger()) }
  }

  private func subject(_ entries: [ExportedEntry] = [], damaged: [CacheKey] = []) async throws -> Subject {
    let test = try await TestStore()
    try await test.engine.store(entries)
    let engine = BatchReadingEngine(base: test.engine, damaged: Set(damaged))
    return Subject(engine: engine, store: EntryStore(engine: engine, clock: test.clock))
  }

  private func export(_ store: EntryStore) async throws -> (report: ExportReport, text: String) {
    var text = ""
    let report = try await StoreExport(store).run(
      EntrySelection(), progress: { _, _ in }, to: { text += String(decoding: $0, as: UTF8.self) })
    return (report, text)
  }

  @Test func anExportReadsNoEntryAlone() async throws {
    let entries = try GeneratedEntries.entries(seed: 3, count: 600, at: Self.now)
    let (batching, plain) = (try await subject(entries), try await TestStore())
    try await plain.engine.store(entries)
    let (report, text) = try await export(batching.store)
    #expect(report.exported == 600)
    #expect(batching.engine.singles.isEmpty)
    #expect(batching.engine.batches.flatMap(\.self) == entries.map(\.key).sorted())
    #expect(batching.engine.batches.allSatisfy { $0.count <= ReadAhead.maximumEntries })
    #expect(batching.engine.batches.count < 10)
    #expect(try await export(plain.store).text == text)
  }

  @Test func whatIsReadAtOnceFitsIntoMemory() async throws {
    let sizes = [1 << 20, 3 << 20, 1, 5 << 20, 2, 3]
    let metadata = EntryMetadata(
      storedAt: Self.now, freshUntil: Self.now, retainUntil: .distantFuture, contentType: "x")
    let entries = try sizes.enumerated().map { number, size in
      try GeneratedEntries.sealed("url/v1/\(number)", [UInt8](repeating: 7, count: size), metadata)
    }
    let subject = try await subject(entries)
    #expect(try await subject.administration.verify().issues.isEmpty)
    #expect(subject.engine.batches.map(\.count) == [2, 1, 1, 2])
  }

  @Test func aDamagedEntryHidesNoOther() async throws {
    let entries = try GeneratedEntries.entries(seed: 4, count: 100, at: Self.now)
    let damaged = entries[50].key
    let subject = try await subject(entries, damaged: [damaged])
    let (report, _) = try await export(subject.store)
    #expect(report.exported == 99 && report.damaged.first == [damaged])
    let issues = try await subject.administration.verify().issues
    #expect(issues.map(\.key) == [damaged])
  }

  /// Neither an engine that does not say which entry is damaged, nor a listing with a key twice, loses an entry.
  @Test func whatFailsTogetherIsReadOneByOne() async throws {
    let entries = try GeneratedEntries.entries(seed: 6, count: 20, at: Self.now)
    let subject = try await subject(entries)
    subject.engine.failTogether()
    #expect(try await export(subject.store).report.exported == 20)
    #expect(subject.engine.batches.count == 1 && subject.engine.singles.count == 20)
    var ahead = ReadAhead(try await self.subject(entries).engine)
    let summaries = entries.prefix(2).flatMap { entry in
      let summary = EntrySummary(key: entry.key, metadata: entry.metadata, payloadBytes: entry.payload.count)
      return [summary, summary]
    }
    ahead.expect(summaries)
    for summary in summaries { #expect(try await ahead.verifiedMetadata(summary.key) == summary.metadata) }
  }

  @Test func aMigrationReadsNoEntryAlone() async throws {
    let entries = try GeneratedEntries.entries(seed: 5, count: 600, at: Self.now)
    let (source, destination) = (try await subject(entries), try await subject())
    let migration = StoreMigration(from: source.store, to: destination.store)
    let report = try await migration.run(TransferOptions()) { _, _, _ in }
    #expect(report.copied == 600 && report.verified == 600)
    #expect(source.engine.singles.isEmpty && destination.engine.singles.isEmpty)
    #expect(try await migration.run(TransferOptions()) { _, _, _ in }.present == 600)
    #expect(source.engine.singles.isEmpty && destination.engine.singles.isEmpty)
  }
}

/// An engine that reads several entries at once, some of them damaged, and notes what it was asked for.
private final class BatchReadingEngine: WrappingEngine, BatchReading {
  let base: any StorageEngine
  private let damaged: Set<CacheKey>
  private let failsTogether = Atomic(false)
  private let asked = Mutex<(batches: [[CacheKey]], singles: [CacheKey])>(([], []))

  init(base: any StorageEngine, damaged: Set<CacheKey>) { (self.base, self.damaged) = (base, damaged) }

  func failTogether() { failsTogether.store(true, ordering: .relaxed) }

  var batches: [[CacheKey]] { asked.withLock(\.batches) }
  var singles: [CacheKey] { asked.withLock(\.singles) }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    asked.withLock { $0.singles.append(key) }
    return try await base.read(key, body)
  }

  func read(_ keys: [CacheKey]) async throws(CacheError) -> [Result<ReadEntry?, CacheError>] {
    asked.withLock { $0.batches.append(keys) }
    if failsTogether.load(ordering: .relaxed) { throw CacheError(.damaged, "one of them is damaged") }
    var results: [Result<ReadEntry?, CacheError>] = []
    for key in keys {
      if damaged.contains(key) {
        results.append(.failure(CacheError(.damaged, "entry \(key) is damaged")))
      } else {
        let entry = try await base.read(key) { bytes, metadata in
          ReadEntry(payload: bytes.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
        }
        results.append(.success(entry))
      }
    }
    return results
  }
}
