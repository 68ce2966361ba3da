import ChildProcesses
import EngineSupport
import Foundation
import SeededNumbers
import StorageSPI
import Testing

@testable import LMDBStorage

/// Stores that are damaged, foreign or out of reach: always an error, never the end of the process.
@Suite struct DamageTests {
  /// What payloads are filled with, so that the tests tell them from structure.
  static let filler: UInt8 = 0xEE

  /// A store with trees of two levels, values in pages of their own, long keys and a free list; closed.
  static func makeStore() async throws -> TestStore {
    let store = try TestStore()
    let engine = try await store.open()
    var batch = WriteBatch()
    func put(_ key: String, size: Int) throws {
      let payload = [UInt8](repeating: filler, count: size)
      batch.put(try CacheKey(key), payload: payload, metadata: Checked.metadata(key, payload))
    }
    for index in 0..<9 { try put("cities/\(index)", size: 1_200) }
    try put("movies/overflow", size: 5_000)
    try put("movies/" + String(repeating: "l", count: 600), size: 1)
    try put("posters/gone", size: 5_000)
    try await engine.apply(batch)
    try await engine.remove("posters/gone")
    try await engine.close()
    return store
  }

  /// What the store of `makeStore` held before the last transaction, which removed an entry: where the meta page of that
  /// one is damaged, the state before it is the latest that is whole.
  static func entriesOfBothStates(of store: TestStore) async throws -> [String: EntryTable.Entry] {
    var entries = try await entries(of: store)
    let payload = [UInt8](repeating: filler, count: 5_000)
    entries["posters/gone"] = EntryTable.Entry(
      payload: payload, metadata: Checked.metadata("posters/gone", payload))
    return entries
  }

  /// What is in the store, which is closed again.
  static func entries(of store: TestStore) async throws -> [String: EntryTable.Entry] {
    let engine = try await store.open()
    let entries = try await engine.entries()
    try await engine.close()
    return entries
  }

  /// Does everything that an engine can do. Errors are welcome, as long as they are of the one kind.
  ///
  /// - Parameters:
  ///   - expected: what was stored. What is read and has the checksum that it says is that.
  ///   - compacting: whether to compact, too, which waits for the disk.
  static func exercise(
    _ store: TestStore, expecting expected: [String: EntryTable.Entry], compacting: Bool = true
  ) async throws {
    do {
      let engine = try await store.open()
      await attempt {
        for key in try await engine.keys(step: 4) { await read(key, engine, expected) }
      }
      for key in expected.keys { await read(key, engine, expected) }
      await attempt { _ = try await engine.checkIntegrity() }
      await attempt { try await engine.put("cities/new", [UInt8](repeating: filler, count: 1_200)) }
      await attempt { try await engine.put("posters/new", [UInt8](repeating: filler, count: 5_000)) }
      if compacting { await attempt { try await engine.compact() } }
      try await engine.close()
    } catch is CacheError {}
  }

  private static func read(
    _ key: String, _ engine: any StorageEngine, _ expected: [String: EntryTable.Entry]
  ) async {
    await attempt {
      guard let entry = try await engine.entry(key),
        try Checked.isSound(CacheKey(key), entry.payload.span, entry.metadata)
      else { return }
      #expect(entry == expected[key], "\(key)")
    }
  }

  static func attempt(_ body: () async throws -> Void) async {
    do { try await body() } catch { #expect(error is CacheError) }
  }

  /// The bytes worth changing: not those amid a payload, amid free space, or amid a long run of one letter of a key.
  static func interesting(_ bytes: [UInt8]) -> [Int] {
    bytes.indices.filter { index in
      let around = bytes[max(0, index - 24)...min(bytes.count - 1, index + 24)]
      return !around.allSatisfy { $0 == bytes[index] } || index % 509 == 0
    }
  }

  @Test func anyChangedByteNeverEndsTheProcess() async throws {
    let store = try await Self.makeStore()
    let expected = try await Self.entriesOfBothStates(of: store)
    let original = try [UInt8](Data(contentsOf: URL(fileURLWithPath: store.dataFile)))
    let all = Self.interesting(original)
    // All of the pages that lead to everything, and of the headers of the others.
    let places = all.enumerated().filter { number, place in
      place < 300 || place % 4_096 < 16 || number % Thoroughness.step(7) == 0
    }.map(\.element)
    #expect(places.count > 500, "\(places.count)")
    let file = try #require(FileHandle(forWritingAtPath: store.dataFile))
    for place in places {
      var changed = original  // The whole file is written anew, because work on the store changes it.
      changed[place] ^= [0xFF, 0x01, 0x80][place % 3]
      try file.truncate(atOffset: UInt64(changed.count))
      try file.seek(toOffset: 0)
      try file.write(contentsOf: changed)
      try await Self.exercise(store, expecting: expected, compacting: place % 32 == 0)
    }
  }

  @Test func cutOffAnywhereIsDamage() async throws {
    let store = try await Self.makeStore()
    let expected = try await Self.entriesOfBothStates(of: store)
    let original = try Data(contentsOf: URL(fileURLWithPath: store.dataFile))
    for size in stride(from: 0, to: original.count, by: 512) {
      try original.prefix(size).write(to: URL(fileURLWithPath: store.dataFile))
      let code = await code { try await store.open().close() }
      #expect(code == .damaged || size >= original.count - 4_096 * 5, "cut off at \(size)")
      try await Self.exercise(store, expecting: expected)
    }
  }

  @Test func opensWhatIsWhole() async throws {
    let store = try await Self.makeStore()
    let engine = try await store.open()
    #expect(try await engine.keys().count == 11)
    #expect(try await engine.checkIntegrity() == [])
    try await engine.close()
  }

  @Test func damageIsFoundInALargeStoreWhenItIsCutOff() async throws {
    let store = try TestStore()
    let engine = try await store.open()
    var batch = WriteBatch()
    for index in 0..<9_000 {
      batch.put(try CacheKey("cities/\(index)"), payload: [UInt8](repeating: 1, count: 1_000), metadata: .sample())
    }
    try await engine.apply(batch)
    try await engine.close()
    let whole = try await store.open()
    #expect(try await whole.statistics().entries == 9_000)
    try await whole.close()
    let file = try #require(FileHandle(forWritingAtPath: store.dataFile))
    try file.truncate(atOffset: file.seekToEnd() / 2)
    try file.close()
    #expect(await code { _ = try await store.open() } == .damaged)
  }

  @Test func integrityCheckFindsDamageBeneathAnOpenStore() async throws {
    let store = try await Self.makeStore()
    let engine = try await store.open()
    let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: store.dataFile)))
    let file = try #require(FileHandle(forUpdatingAtPath: store.dataFile))
    for page in 2..<bytes.count / 4_096 {  // Another kind of page, on all of them.
      try file.seek(toOffset: UInt64(page * 4_096 + 10))
      try file.write(contentsOf: [0x40])
    }
    try file.close()
    #expect(try await engine.checkIntegrity().map(\.kind) == [.structure])
    try await engine.close()
    #expect(await code { _ = try await store.open() } == .damaged)
  }

  /// A loss of power under the durability relaxed may leave a meta page that is older than the one before the last.
  @Test func metaPagesThatDoNotFollowOnEachOtherAreSaidToCostNothing() async throws {
    let store = try await Self.makeStore()
    let (early, entries) = (try store.bytes, try await Self.entries(of: store))
    let engine = try await store.open()
    for _ in 0..<3 { try await engine.put("cities/late", [Self.filler]) }
    try await engine.close()
    var bytes = try store.bytes
    let older = try bytes.withUnsafeBytes { try LMDBMetaPage.both(in: $0) }
    let page = older[0].transaction < older[1].transaction ? 0 : 4_096
    bytes.replaceSubrange(page..<page + 4_096, with: early[page..<page + 4_096])
    try Data(bytes).write(to: URL(fileURLWithPath: store.dataFile))
    let again = try await store.open()
    let issues = try await again.checkIntegrity()
    #expect(issues.count == 1 && issues.first?.message.contains("the store can be used") == true, "\(issues)")
    #expect(try await again.entries().count == entries.count + 1)
    try await again.put("cities/later", [Self.filler])
    #expect(try await again.checkIntegrity() == [])
    try await again.close()
  }

  static let foreign: [[UInt8]] = [
    Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 10_000), [1], [],
    [UInt8](repeating: 0, count: 8_192),
  ]

  /// What has the mark of a store is a damaged store; anything else belongs to someone else.
  @Test(arguments: foreign, [true, false])
  func foreignFilesAreRefusedAndLeftAlone(content: [UInt8], hasMark: Bool) async throws {
    let store = try TestStore()
    try store.mark()
    try Data(content).write(to: URL(fileURLWithPath: store.dataFile))
    if !hasMark { try FileManager.default.removeItem(atPath: StoreMark(inFolder: store.path).path) }
    let names = try FileManager.default.contentsOfDirectory(atPath: store.path).sorted()
    #expect(await code { _ = try await store.open() } == (hasMark ? .damaged : .cannotCreate))
    #expect(try Data(contentsOf: URL(fileURLWithPath: store.dataFile)) == Data(content))
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.path).sorted() == names)
  }

  /// Environments of other applications: plain records, a database with a name like a namespace's, an empty one.
  @Test(arguments: [("", " k1\n v1\n"), ("users", " k1\n v1\n"), ("cities", " cities/1\n v1\n"), ("users", "")])
  func theEnvironmentOfAnotherApplicationIsRefusedAndLeftAlone(database: String, records: String) async throws {
    let store = try TestStore()
    try FileManager.default.createDirectory(atPath: store.path, withIntermediateDirectories: true)
    let dump = """
      VERSION=3
      format=print
      \(database.isEmpty ? "" : "database=\(database)\n")type=btree
      mapsize=1048576
      maxreaders=126
      HEADER=END
      \(records)DATA=END

      """
    let input = store.folder + "/dump"
    try Data(dump.utf8).write(to: URL(fileURLWithPath: input))
    let name = database.isEmpty ? [] : ["-s", database]
    let load = try FinishedProcess(running: ["mdb_load", "-f", input] + name + [store.path])
    #expect(load.status == 0, "\(load.errors)")
    let (before, names) = (try store.bytes, try FileManager.default.contentsOfDirectory(atPath: store.path).sorted())
    let (plugin, configuration) = (LMDBPlugin(), try store.configuration)
    #expect(await code { _ = try await store.open() } == .cannotCreate)
    #expect(await code { _ = try await plugin.inspect(configuration) } == .cannotCreate)
    #expect(await code { _ = try await plugin.removeStore(configuration, movingAside: nil) } == .cannotCreate)
    #expect(try store.bytes == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.path).sorted() == names)
  }

  /// What earlier versions wrote has no mark outside of its format.
  @Test func theMarkInTheFormatIsEnough() async throws {
    let store = try await Self.makeStore()
    try FileManager.default.removeItem(atPath: StoreMark(inFolder: store.path).path)
    #expect(try await Self.entries(of: store).count == 11)
    // Both meta pages are gone: the format record in a page that nothing leads to still tells.
    var bytes = try store.bytes
    bytes.replaceSubrange(0..<8_192, with: [UInt8](repeating: 0x58, count: 8_192))
    try Data(bytes).write(to: URL(fileURLWithPath: store.dataFile))
    #expect(await code { _ = try await store.open() } == .damaged)
  }

  @Test func laterFormatsAreRefusedAsSuch() async throws {
    let store = try await Self.makeStore()
    var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: store.dataFile)))
    for page in [0, 4_096] { bytes[page + 20] = 2 }
    try Data(bytes).write(to: URL(fileURLWithPath: store.dataFile))
    #expect(await code { _ = try await store.open() } == .unsupportedFormat)
  }

  @Test func placesWhereNoStoreCanBe() async throws {
    let store = try TestStore()
    try Data([1]).write(to: URL(fileURLWithPath: store.path))
    #expect(await code { _ = try await store.open() } == .cannotCreate)
    let plugin = LMDBPlugin()
    for path in [store.path + "/below", "/proc/nowhere"] {
      let configuration = try EngineConfiguration(
        for: plugin.declaration, values: ["path": .text(path)], clock: FixedClock(now: .zero))
      #expect(await code { _ = try await plugin.open(configuration) } == .cannotCreate, "\(path)")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: store.path)) == Data([1]))
  }
}
