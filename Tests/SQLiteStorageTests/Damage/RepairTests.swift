import Foundation
import SeededNumbers
import StorageSPI
import Testing

@testable import SQLiteStorage

/// Repair saves what can be read, and never loses the damaged store.
@Suite struct RepairTests {
  @Test func aSoundStoreStaysAsItIs() async throws {
    let store = try await DamagedStore()
    let report = try await store.repair()
    #expect(report.saved == store.entries.count && report.lost.isEmpty && report.movedTo.isEmpty)
    let preview = try await SQLitePlugin().previewRepair(try store.options(), store.plan)
    #expect(preview.saved == report.saved && preview.lost.isEmpty && preview.mended.isEmpty, "\(preview)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: store.folder.store)) == store.content)
    try store.write(Data())
    try FileManager.default.removeItem(atPath: store.folder.store)
    let none = try await store.repair()
    #expect(none.saved == 0 && none.movedTo.isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder.path) == ["cache.sqlite.uses"])
  }

  /// As the table and the index have them that a native tool has changed.
  @Test func rowsWithoutAKeyAreLostToo() async throws {
    let store = try await DamagedStore()
    try OtherConnection(store.folder.store).execute(
      "UPDATE entries SET key = upper(key) WHERE key LIKE '%page=30/%' OR key LIKE '%page=31/%'")
    let report = try await store.repair()
    #expect(report.saved == store.entries.count - 2 && report.movedTo.count >= 1)
    // The third says that neither the table nor the index is whole, so that more may be lost than the two rows.
    #expect(report.lost.map(\.kind) == [.undecodable, .undecodable, .structure], "\(report.lost)")
    #expect(report.lost.allSatisfy { $0.key == nil })
  }

  /// A read finds the row by the index, and never looks at the key that the row has.
  @Test func aRowWhoseKeyIsDamagedIsSavedByItsIndex() async throws {
    let store = try await DamagedStore()
    let key = try CacheKey("cities/v1/page=30/sort=desc")
    var (damaged, places) = (store.content, 0)
    for start in stride(from: 4_096, to: damaged.count, by: 4_096)
    where damaged[start] == SQLitePage.Kind.tableLeaf.rawValue {
      guard let range = damaged.range(of: Data(key.text.utf8), in: start..<start + 4_096) else { continue }
      damaged[range.lowerBound + 10] = 0x78
      places += 1
    }
    #expect(places == 1)
    try store.write(damaged)
    let engine = try await store.folder.open()
    #expect(try await engine.read(key) { payload, _ in payload.count } == store.entries[key]?.payload.count)
    try await engine.close()
    let preview = try await SQLitePlugin().previewRepair(try store.options(), store.plan)
    let report = try await store.repair()
    for report in [preview, report] {
      #expect(report.saved == store.entries.count && report.lost.isEmpty && !report.mended.isEmpty, "\(report)")
    }
    #expect(try await store.missing("row").isEmpty)
  }

  /// A version that is not known, and marks of another application, over the tables of a store.
  @Test(arguments: [(63, 7), (63, 0), (60, 1), (68, 0), (71, 0x69)] as [(Int, UInt8)])
  func damagedMarksAreNotTakenForALaterVersion(place: Int, value: UInt8) async throws {
    let store = try await DamagedStore()
    var damaged = store.content
    damaged[place] = value
    try store.write(damaged)
    #expect(try await code { _ = try await store.folder.open() } == .damaged)
    #expect(try await SQLitePlugin().inspect(try store.options()).format == nil)
    let report = try await store.repair()
    #expect(report.saved == store.entries.count && report.lost.isEmpty && !report.mended.isEmpty, "\(report)")
    #expect(try await store.missing("byte \(place)").isEmpty)
  }

  /// Every byte of the header, of the beginning of each page, and each 61st of the rest.
  @Test func aFlippedByteCostsNoMoreThanWhatItTouches() async throws {
    let store = try await DamagedStore()
    let keysByPage = try store.keysByPage()
    for position in store.content.indices where position < 100 || position % 4_096 < 16 || position % 61 == 0 {
      let damaged = store.damaged(at: position)
      try store.write(damaged)
      let report = try await store.repair()
      if let file = report.movedTo.first {
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == damaged, "byte \(position)")
      } else {
        #expect(report.lost.isEmpty && report.saved == store.entries.count, "byte \(position)")
      }
      let missing = try await store.missing("byte \(position)")
      let page = position / 4_096 + 1
      // What is no page of a tree is free, or belongs to the one entry that is larger than a page.
      let large = try CacheKey("cities/v1/page=20/sort=desc")
      let touched = keysByPage[page] ?? [large]
      #expect(missing.isSubset(of: touched), "byte \(position)")
      if position % 4_096 > 200 { #expect(missing.count <= 1, "byte \(position)") }
      #expect(missing.isSubset(of: Set(report.lost.compactMap(\.key))), "byte \(position): \(report.lost)")
      #expect(report.saved == store.entries.count - missing.count, "byte \(position)")
    }
  }

  /// Each fifth byte of a store of three entries on small pages, and each 97th of a larger one.
  @Test(arguments: [(3, 0, 512, 5), (44, 12, 4_096, 97)])
  func aFlippedByteIsNeverReadAsGood(count: Int, removed: Int, pageSize: Int, step: Int) async throws {
    let store = try await DamagedStore(of: count, removing: removed, pageSize: pageSize)
    for position in stride(from: 0, to: store.content.count, by: Thoroughness.isFull ? 1 : step) {
      try store.write(store.damaged(at: position))
      guard let engine = try? await store.folder.open() else { continue }
      try await expectNoDeceit(store, engine, "byte \(position)")
      try? await engine.close()
    }
  }

  /// Whatever is read is what was written, or fails, or is found out by the check.
  private func expectNoDeceit(_ store: DamagedStore, _ engine: any StorageEngine, _ note: String) async throws {
    let isSound = store.plan.isSound
    var (isWrong, isMissing) = (false, false)
    for key in store.entries.keys.sorted() {
      guard let found = try? await engine.read(key, { isSound(key, $0, $1) }) else { continue }
      if !found { isWrong = true }
    }
    if let scanned = try? await engine.scan(KeyRange(), limit: 100) {
      isMissing = Set(scanned.map(\.key)) != Set(store.entries.keys)
    }
    _ = try? await engine.statistics()
    let issues = try await engine.checkIntegrity()
    #expect(!isMissing || !issues.isEmpty, "\(note)")
    // A wrong payload or field has the wrong checksum, which the core finds; a repair finds it as well.
    guard isWrong, issues.isEmpty else { return }
    try await engine.close()
    #expect(try await store.repair().lost.isEmpty == false, "\(note)")
  }

  @Test(arguments: [
    ("nothing", 0..<0, 0), ("half of the header", 0..<60, 0), ("the first page", 0..<4_096, 0),
    ("the root of the table", 4_096..<8_192, 0), ("the root of the index", 8_192..<12_288, 0),
    ("the first three pages", 0..<12_288, 0), ("a page of the table", 16_384..<20_480, 12),
  ])
  func wholePagesOfZeroes(name: String, range: Range<Int>, lost: Int) async throws {
    let store = try await DamagedStore(removing: 0)
    var damaged = store.content
    damaged.replaceSubrange(range, with: Data(count: range.count))
    try store.write(damaged)
    let report = try await store.repair()
    let missing = try await store.missing(name)
    #expect(missing.count <= lost, "\(name): \(missing.count)")
    #expect(report.movedTo.isEmpty == range.isEmpty, "\(name)")
    #expect(missing.isSubset(of: Set(report.lost.compactMap(\.key))), "\(name)")
  }

  @Test(arguments: [0, 1, 100, 511, 512, 4_096, 5_000, 10_000, 32_000])
  func aFileThatWasCutOff(size: Int) async throws {
    let store = try await DamagedStore()
    try store.write(store.content.prefix(size))
    let report = try await store.repair()
    #expect(report.movedTo.first == store.folder.store + ".damaged-2026")
    #expect(try await store.missing("\(size)").count == store.entries.count - report.saved)
    if size > 30_000 { #expect(report.saved > 0) }
  }

  @Test func somethingElseAltogetherIsMovedAside() async throws {
    let store = try await DamagedStore()
    try store.write(Data(repeating: 0x78, count: 9_000))
    try Data("older".utf8).write(to: URL(fileURLWithPath: store.folder.store + ".damaged-2026"))
    let report = try await store.repair()
    #expect(report.saved == 0 && report.lost.map(\.kind) == [.structure])
    #expect(report.movedTo == [store.folder.store + ".damaged-2026-2"])
    #expect(try await store.missing("x").count == store.entries.count)
    #expect(try store.folder.permissions(of: store.folder.store) == 0o600)
  }

  @Test(arguments: [
    ("CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')", CacheError.Code.cannotCreate),
    ("PRAGMA application_id = 0x43614368; PRAGMA user_version = 4; CREATE TABLE entries (key)", .unsupportedFormat),
  ])
  func anotherDatabaseIsRefusedAndNotAltered(sql: String, expected: CacheError.Code) async throws {
    let store = try await DamagedStore()
    try store.write(Data())
    try OtherConnection(store.folder.store).execute(sql)
    let before = try Data(contentsOf: URL(fileURLWithPath: store.folder.store))
    #expect(try await code { _ = try await store.repair() } == expected)
    #expect(try Data(contentsOf: URL(fileURLWithPath: store.folder.store)) == before)
    let names = try FileManager.default.contentsOfDirectory(atPath: store.folder.path).sorted()
    #expect(names == ["cache.sqlite", "cache.sqlite.uses"])
  }

  @Test func aTallyThatDisagreesIsRepaired() async throws {
    let store = try await DamagedStore()
    try OtherConnection(store.folder.store).execute("UPDATE tally SET entries = entries + 1")
    let report = try await store.repair()
    #expect(report.saved == store.entries.count && report.lost.isEmpty && !report.movedTo.isEmpty)
    #expect(try await store.missing("tally").isEmpty)
  }

  @Test(arguments: FormatTests.fixtures.filter { $0.kind != "-empty" })
  func aDamagedStoreOfAnOldFormatIsRepaired(version: Int, kind: String) async throws {
    let folder = try FormatTests.copyOfFixture("version-\(version)\(kind)")
    let file = try #require(FileHandle(forWritingAtPath: folder.store))
    try file.write(contentsOf: Data(count: 100))
    try file.close()
    let known = Dictionary(uniqueKeysWithValues: try FixtureEntries.all().map { ($0.key, $0) })
    let plan = RepairPlan(suffix: ".old") { key, _, metadata in known[key]?.metadata == metadata }
    let configuration = try EngineConfiguration(
      for: SQLitePlugin().declaration, values: ["path": .text(folder.store)], clock: FixedClock(now: .distantFuture))
    let report = try await SQLitePlugin().repair(configuration, plan)
    #expect(report.saved == known.count)
    let engine = try await folder.open()
    let expected = try FixtureEntries.all().sorted { $0.key < $1.key }
    #expect(try await engine.everything() == expected)
    try await engine.close()
    // The header is in the log as well: then nothing is wrong, and nothing is done.
    #expect(try folder.shell("PRAGMA user_version") == (report.movedTo.isEmpty ? "\(version)" : "3"))
  }
}
