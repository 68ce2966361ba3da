import Foundation
import StorageSPI
import Testing

@testable import SQLiteStorage

/// A closed store whose entries are known, and what comes of damaging and repairing it.
struct DamagedStore {
  let folder: TestFolder
  let content: Data
  var entries: [CacheKey: KnownEntry]

  /// A store with entries on several pages, a few of them on pages of their own, and some that were removed again.
  ///
  /// - Parameter pageSize: that of the file; `nil` for SQLite's own.
  init(of count: Int = 44, removing removed: Int = 12, pageSize: Int? = nil) async throws {
    folder = try TestFolder(inMemory: true)
    let engine = try await folder.open()
    var entries: [CacheKey: KnownEntry] = [:]
    for number in 0..<count {
      let size = number == 20 ? 9_000 : 40 + number * 11
      let entry = KnownEntry(
        key: try CacheKey("cities/v1/page=\(number)/sort=desc"),
        payload: (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) },
        metadata: .sample(
          retainUntil: 3_000 + Int64(number) << 20, attributes: number % 3 == 0 ? ["etag": "\(number)"] : [:],
          checksum: UInt64(number + 1) &* 0x9E37_79B9_7F4A_7C15))
      entries[entry.key] = entry
    }
    for entry in entries.values.sorted(by: { $0.key < $1.key }) {
      try await engine.put(entry.key.text, entry.payload, entry.metadata)
    }
    for number in 0..<removed {
      let key = try CacheKey("cities/v1/page=\(number)/sort=desc")
      var batch = WriteBatch()
      batch.remove(key)
      try await engine.apply(batch)
      entries[key] = nil
    }
    try await engine.close()
    if let pageSize {
      try OtherConnection(folder.store).execute(
        "PRAGMA journal_mode = DELETE; PRAGMA page_size = \(pageSize); VACUUM; PRAGMA journal_mode = WAL")
    }
    self.entries = entries
    content = try Data(contentsOf: URL(fileURLWithPath: folder.store))
  }

  /// By default a lock is waited for: a process that another test starts holds it until it runs its program.
  func options(busyTimeout: Int64 = 60_000) throws -> EngineConfiguration {
    try EngineConfiguration(
      for: SQLitePlugin().declaration,
      values: ["path": .text(folder.store), "busyTimeout": .integer(busyTimeout)],
      clock: FixedClock(now: Timestamp(milliseconds: 0)))
  }

  /// Makes `content` the database, with nothing next to it except the mark of the store.
  func write(_ content: Data) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where !name.hasSuffix(".uses") {
      try FileManager.default.removeItem(atPath: folder.path + "/" + name)
    }
    try content.write(to: URL(fileURLWithPath: folder.store))
  }

  func damaged(at position: Int) -> Data {
    var damaged = content
    damaged[position] ^= position % 2 == 0 ? 0xFF : 1 << UInt8(position / 2 % 8)
    return damaged
  }

  /// The keys that the store does not have; what it has must be sound, and nothing else wrong with it.
  func missing(_ note: String) async throws -> Set<CacheKey> {
    let engine = try await folder.open()
    let found = try await engine.everything()
    for entry in found { #expect(entries[entry.key] == entry, "\(note): \(entry.key)") }
    let issues = try await engine.checkIntegrity()
    #expect(issues.isEmpty, "\(note): \(issues)")
    #expect(try await engine.statistics().entries == found.count, "\(note)")
    try await engine.close()
    return Set(entries.keys).subtracting(found.map(\.key))
  }

  /// Which keys each page of the table holds, found by the means of repair in the store as it was.
  func keysByPage() throws -> [Int: [CacheKey]] {
    try write(content)
    let pages = try SQLitePages(SQLiteFile(folder.store), log: folder.store + "-wal")
    var keys: [Int: [CacheKey]] = [:]
    for number in 1...pages.count {
      guard let bytes = pages.page(number), let page = SQLitePage(bytes, number: number) else { continue }
      keys[number] = page.kind == .tableLeaf ? page.cells(in: pages).compactMap { $0?.record.key(0) } : []
    }
    return keys
  }
}
