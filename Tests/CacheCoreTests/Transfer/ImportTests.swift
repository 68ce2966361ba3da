import FetchVocabulary
import SeededNumbers
import EngineConformance
import EngineAPI
import TestStorage
import Testing

@testable import CacheCore

struct ImportTests {
  private func run(
    _ lines: [UInt8], into test: TestStore, _ options: TransferOptions = TransferOptions()
  ) async throws(CacheError) -> TransferReport {
    var rest = lines[...]
    return try await test.store.importLines(of: "FILE", options, progress: { _, _ in }) { () throws(CacheError) in
      defer { rest = rest.dropFirst(1_000) }
      return Array(rest.prefix(1_000))
    }
  }

  private func entry(
    _ test: TestStore, _ text: String, age: Int = 0, kept: Int = 60, key: String = "cities/v1/a"
  ) throws -> ExportedEntry {
    let stored = test.clock.now.advanced(by: .seconds(-age))
    let metadata = EntryMetadata(
      storedAt: stored, freshUntil: stored, retainUntil: test.clock.now.advanced(by: .seconds(kept)), contentType: "x")
    return try GeneratedEntries.sealed(key, Array(text.utf8), metadata)
  }

  @Test(arguments: Thoroughness.seeds(1, of: 2)) func exportedEntriesAreImported(seed: UInt64) async throws {
    let (source, destination) = (try await TestStore(), try await TestStore())
    let entries = try GeneratedEntries.entries(seed: seed, count: 9_000, at: source.clock.now)
    try await source.engine.store(entries)
    var lines: [UInt8] = []
    let exported = try await source.store.export(EntrySelection(), progress: { _, _ in }) {
      (piece) throws(CacheError) in lines += piece
    }
    #expect(exported.written == entries.count && exported.damaged.count == 0)
    #expect(exported.bytes == entries.reduce(0) { $0 + $1.payload.count })
    let report = try await run(lines, into: destination)
    #expect(report.written == entries.count && report.bytes == exported.bytes)
    #expect(try await destination.engine.allEntries() == entries.sorted { $0.key < $1.key }, "seed \(seed)")
    #expect(destination.engine.batches.count == 3, "batches of 4,096")
    let again = try await run(lines, into: destination)
    #expect(again.written == 0 && again.present == entries.count)
  }

  @Test(arguments: ["", "\r\n"]) func aFileMayBeginWithAByteOrderMark(end: String) async throws {
    let (source, destination) = (try await TestStore(), try await TestStore())
    try await source.engine.store([entry(source, "1", key: "cities/v1/a"), entry(source, "2", key: "cities/v1/b")])
    var lines = [UInt8]("\u{FEFF}\(end)".utf8)
    _ = try await source.store.export(EntrySelection(), progress: { _, _ in }) {
      (piece) throws(CacheError) in lines += piece
    }
    // Two files in one.
    lines += lines
    let report = try await run(lines, into: destination)
    #expect(report.written == 2 && report.present == 2)
  }

  @Test func aSelectionIsExported() async throws {
    let test = try await TestStore()
    try await test.engine.store([
      entry(test, "1", key: "cities/v1/a"), entry(test, "2", kept: -1, key: "movies/v1/b"),
      entry(test, "3", key: "leases/v1/c"),
    ])
    let selections: [(EntrySelection, Int)] = [
      (EntrySelection(), 2), (EntrySelection(namespace: "movies"), 1), (EntrySelection(state: .expired), 1),
      (EntrySelection(prefix: "cities/v1"), 1), (EntrySelection(namespace: "leases"), 0),
      (EntrySelection(namespace: "movies", prefix: "cities"), 0),
    ]
    for (selection, count) in selections {
      var lines = 0
      let report = try await test.store.export(selection, progress: { _, _ in }) { (piece) throws(CacheError) in
        lines += piece.count { $0 == 0x0A }
      }
      #expect(report.written == count && lines == count, "\(selection)")
    }
  }

  /// The clock was set back after an entry was stored ahead of it: nothing proves that the entry is newer.
  @Test(arguments: [(-61, 10, 0), (-60, 10, 1), (10, -61, 1), (10, -60, 0), (-200, -100, 1), (-100, -200, 0)])
  func anEntryOfUnknownAgeIsNotNewerThanAnIntactOne(foundAge: Int, givenAge: Int, kept: Int) async throws {
    let test = try await TestStore()
    try await test.engine.store([entry(test, "found", age: foundAge, kept: 300)])
    let given = try entry(test, "given", age: givenAge, kept: 300)
    for isDryRun in [true, false] {
      let report = try await run([given].lines, into: test, TransferOptions(isDryRun: isDryRun))
      #expect(report.kept == kept && report.written == 1 - kept, "dry run: \(isDryRun)")
    }
  }

  /// A dry run reports what the import then does.
  @Test(arguments: [false, true]) func aDryRunCountsAsTheImportDoes(overwrites: Bool) async throws {
    let test = try await TestStore()
    let stored = [try entry(test, "1", age: 10), try entry(test, "2", age: 5, key: "cities/v1/b")]
    try await test.engine.store(stored)
    let lines = try [
      entry(test, "1", age: 10), entry(test, "3", age: 20, key: "cities/v1/b"), entry(test, "4", key: "cities/v1/c"),
    ].lines
    let planned = try await run(lines, into: test, TransferOptions(overwrites: overwrites, isDryRun: true))
    #expect(try await test.engine.allEntries() == stored)
    let done = try await run(lines, into: test, TransferOptions(overwrites: overwrites))
    #expect(planned == done && done.present == 1 && done.kept == (overwrites ? 0 : 1))
  }

  @Test(arguments: [(0, "no entry was imported"), (5_000, "4096 entries were imported")])
  func anInterruptedImportReportsItsProgress(count: Int, text: String) async throws {
    let test = try await TestStore()
    let lines = try GeneratedEntries.entries(seed: 5, count: count, at: test.clock.now).lines
    var rest = lines[...]
    let error = await #expect(throws: CacheError.self) {
      try await test.store.importLines(of: "FILE", TransferOptions(), progress: { _, _ in }) { () throws(CacheError) in
        if rest.isEmpty { throw .cancelled }
        defer { rest = rest.dropFirst(1_000) }
        return Array(rest.prefix(1_000))
      }
    }
    #expect(error?.code == .cancelled && error?.message == "the import of FILE was interrupted: \(text)")
    #expect(error?.hint == "repeat it: entries that are there already are skipped")
  }

  /// The age of the store's entry, whether newer entries are overwritten, and whether the file's entry wins; that one
  /// is 10 s old.
  @Test(arguments: [(nil, false, true), (20, false, true), (10, false, true), (5, false, false), (5, true, true)])
  func theNewerEntryIsKept(age: Int?, overwrites: Bool, isImported: Bool) async throws {
    for isDryRun in [true, false] {
      let test = try await TestStore()
      let before = try age.map { [try entry(test, "old", age: $0)] } ?? []
      if !before.isEmpty { try await test.engine.store(before) }
      let new = try entry(test, "new", age: 10)
      let options = TransferOptions(overwrites: overwrites, isDryRun: isDryRun)
      let report = try await run([new].lines, into: test, options)
      #expect(report.written == (isImported ? 1 : 0) && report.kept == (isImported ? 0 : 1))
      #expect(try await test.engine.allEntries() == (isImported && !isDryRun ? [new] : before))
    }
  }

  @Test func expiredEntriesAreSkipped() async throws {
    let test = try await TestStore()
    let lines = [try entry(test, "1", kept: 0), try entry(test, "2", kept: 1, key: "cities/v1/b")].lines
    let report = try await run(lines, into: test)
    #expect(report.written == 1 && report.expired == 1)
  }

  @Test func theLastLineOfAKeyCounts() async throws {
    let test = try await TestStore()
    let entries = try ["1", "2", "3"].map { try entry(test, $0) }
    let report = try await run(entries.lines, into: test)
    #expect(report.written == 3)
    #expect(try await test.engine.allEntries() == [entries[2]])
  }

  @Test(arguments: [0, 1, 4_095, 4_096, 4_097, 5_000])
  func aMalformedLineEndsTheImportAfterWholeBatches(good: Int) async throws {
    let test = try await TestStore()
    let entries = try GeneratedEntries.entries(seed: 5, count: 5_001, at: test.clock.now)
    let lines = Array(entries[..<good]).lines + Array("\n{\"format\":1}\n".utf8) + Array(entries[good...]).lines
    let imported = good / 4_096 * 4_096
    do throws(CacheError) {
      _ = try await run(lines, into: test)
      Issue.record("it was taken")
    } catch {
      #expect(error.code == .malformed)
      #expect(error.message.hasPrefix("FILE, line \(good + 2): the member 'key' is missing"), "\(error.message)")
      #expect(error.hint.contains(imported == 0 ? "no entry was" : "\(imported) entries"), "\(error.hint)")
    }
    #expect(try await test.engine.count().entries == imported)
  }

  @Test func aDryRunSaysThatNothingWasImported() async throws {
    let test = try await TestStore()
    let entries = try GeneratedEntries.entries(seed: 6, count: 4_100, at: test.clock.now)
    do throws(CacheError) {
      _ = try await run(entries.lines + [0x7B], into: test, TransferOptions(isDryRun: true))
      Issue.record("it was taken")
    } catch { #expect(error.message.contains("line 4101") && error.hint.contains("no entry was"), "\(error)") }
  }

  @Test func anotherWriterIsNoticed() async throws {
    let test = try await TestStore()
    test.engine.refuse(3)
    let report = try await run([try entry(test, "1")].lines, into: test)
    #expect(report.written == 1 && test.engine.batches.count == 4)
    test.engine.refuse(1_000)
    #expect(await errorCode { _ = try await run(other(test), into: test) }?.rawValue == "conflict")
  }

  private func other(_ test: TestStore) throws(CacheError) -> [UInt8] {
    do { return [try entry(test, "2")].lines } catch { throw CacheError(.invalidRequest, "\(error)") }
  }

  @Test func aDamagedEntryIsReplaced() async throws {
    let test = try await TestStore()
    let sound = try entry(test, "sound", age: 10)
    let damaged = ExportedEntry(key: sound.key, metadata: try entry(test, "x").metadata, payload: [1, 2])
    try await test.engine.store([damaged])
    #expect(try await run([sound].lines, into: test).written == 1)
    #expect(try await test.engine.allEntries() == [sound])
  }
}
