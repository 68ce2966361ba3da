import ChildProcesses
import EngineAPI
import Foundation
import Testing

@testable import LMDBStorage

/// Stores that are damaged, foreign or out of reach. Opening finds the defects of the file that would crash LMDB.
@Suite struct DamageTests {
  /// A store with trees of two levels, values in separate pages, long keys and a free list; closed.
  static func makeStore() async throws -> TestStore {
    let store = try TestStore()
    let engine = try await store.open()
    var batch = WriteBatch()
    func put(_ key: String, size: Int) throws {
      batch.put(try CacheKey(key), payload: [UInt8](repeating: 0xEE, count: size), metadata: .sample())
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

  @Test func cutOffAnywhereIsDamage() async throws {
    let store = try await Self.makeStore()
    let original = try store.bytes
    for size in stride(from: 0, to: original.count, by: 512) {
      try Data(original.prefix(size)).write(to: URL(fileURLWithPath: store.dataFile))
      let code = await code { try await store.open().close() }
      // The last pages may be free ones.
      #expect(code == .damaged || code == nil && size >= original.count - 4_096 * 5, "cut off at \(size)")
    }
  }

  /// Every byte of a meta page that LMDB uses, and the complete pages.
  @Test func aDamagedMetaPageIsDamage() async throws {
    let store = try await Self.makeStore()
    let original = try store.bytes
    func expectDamage(_ bytes: [UInt8], _ place: String) async throws {
      try Data(bytes).write(to: URL(fileURLWithPath: store.dataFile))
      #expect(await code { try await store.open().close() } == .damaged, "\(place)")
    }
    for start in [0, 4_096] {
      // Number, kind, magic number, version, page size, flags, and the high bytes of the roots and of the last page.
      for offset in [0, 10, 16, 19, 20, 40, 41, 44, 88, 89, 91, 92, 86, 134, 142] {
        var changed = original
        changed[start + offset] ^= 0x55
        try await expectDamage(changed, "byte \(start + offset)")
      }
      var changed = original
      changed.replaceSubrange(start..<start + 4_096, with: [UInt8](repeating: 0, count: 4_096))
      try await expectDamage(changed, "page of zeros at \(start)")
    }
  }

  @Test func valuesOfAnySizeAreRemovedInOneBatch() async throws {
    let store = try TestStore()
    let engine = try await store.open()
    var (filling, removals, size) = (WriteBatch(), WriteBatch(), 1)
    for index in 0..<10_000 {
      size = size * 48_271 % 2_147_483_647
      let key = try CacheKey("cities/" + String(repeating: "k", count: size % 40) + "\(index)")
      filling.put(key, payload: [UInt8](repeating: UInt8(size & 0xFF), count: size % 700), metadata: .sample())
      removals.remove(key)
    }
    try await engine.apply(filling)
    try await engine.apply(removals)
    #expect(try await engine.keys().isEmpty)
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
    #expect(try await whole.count().entries == 9_000)
    try await whole.close()
    let file = try #require(FileHandle(forWritingAtPath: store.dataFile))
    try file.truncate(atOffset: file.seekToEnd() / 2)
    try file.close()
    #expect(await code { _ = try await store.open() } == .damaged)
  }

  @Test func integrityCheckFindsThatAnOpenStoreWasCutOff() async throws {
    let store = try await Self.makeStore()
    let engine = try await store.open()
    let bytes = try store.bytes
    let file = try #require(FileHandle(forUpdatingAtPath: store.dataFile))
    try file.truncate(atOffset: UInt64(bytes.count / 2))
    #expect(try await engine.check().map(\.kind) == [.structure])
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: bytes)
    try file.close()
    #expect(try await engine.check() == [])
    try await engine.close()
  }

  /// Environments of other applications: plain records, a database with a name like a namespace's, an empty one, nothing.
  @Test(arguments: [
    ("", " k1\n v1\n"), ("users", " k1\n v1\n"), ("cities", " cities/1\n v1\n"), ("users", ""), ("", ""),
  ])
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
    for page in [0, 4_096] {
      try Data(before[..<page] + [UInt8](repeating: 0, count: 4_096) + before[(page + 4_096)...])
        .write(to: URL(fileURLWithPath: store.dataFile))
      #expect(await code { _ = try await plugin.removeStore(configuration, movingAside: nil) } == .cannotCreate)
    }
  }

  /// A copy made by LMDB's tools has no mark outside of its format.
  @Test func theMarkInTheFormatIsEnough() async throws {
    let store = try await Self.makeStore()
    try FileManager.default.removeItem(atPath: StoreMark(inFolder: store.path).path)
    let engine = try await store.open()
    #expect(try await engine.keys().count == 11)
    try await engine.close()
    // One meta page is missing: the other one has the mark.
    for page in [0, 4_096] {
      var bytes = try store.bytes
      bytes.replaceSubrange(page..<page + 4_096, with: [UInt8](repeating: 0x58, count: 4_096))
      let copy = try TestStore()
      try FileManager.default.createDirectory(atPath: copy.path, withIntermediateDirectories: true)
      try Data(bytes).write(to: URL(fileURLWithPath: copy.dataFile))
      #expect(await code { _ = try await copy.open() } == .damaged)
    }
  }

  @Test func aLaterFormatIsRefusedAsSuch() async throws {
    let store = try await Self.makeStore()
    var bytes = try store.bytes
    for page in [0, 4_096] { bytes[page + 88] = 2 }
    try Data(bytes).write(to: URL(fileURLWithPath: store.dataFile))
    #expect(await code { _ = try await store.open() } == .unsupportedFormat)
    let (plugin, configuration) = (LMDBPlugin(), try store.configuration)
    #expect(try await plugin.inspect(configuration).format == 2)
    #expect(await code { _ = try await plugin.removeStore(configuration, movingAside: nil) } == .unsupportedFormat)
    #expect(try store.bytes == bytes)
  }
}
