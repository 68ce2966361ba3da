import Foundation
import SQLiteStorage
import SeededNumbers
import EngineAPI
import Testing

/// A damaged file gives errors, never a crash and never an entry that is silently missing.
@Suite struct DamageTests {
  private static let count = 300

  /// A folder with the mark of a store, whose database is `content`.
  private static func store(_ content: Data) async throws -> TestFolder {
    let folder = try TestFolder()
    try await folder.open().close()
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: folder.store + suffix) }
    try content.write(to: URL(fileURLWithPath: folder.store))
    return folder
  }

  /// The file of a closed store with entries of several pages.
  private static let content = Task {
    let folder = try TestFolder()
    let engine = try await folder.open()
    var batch = WriteBatch()
    for number in 0..<count {
      batch.put(try key(number), payload: payload(number), metadata: .sample(attributes: ["etag": "\(number)"]))
    }
    try await engine.apply(batch)
    try await engine.close()
    return try Data(contentsOf: URL(fileURLWithPath: folder.store))
  }

  private static func key(_ number: Int) throws -> CacheKey { try CacheKey("cities/v1/\(number)") }
  private static func payload(_ number: Int) -> [UInt8] { Array(repeating: UInt8(number % 251), count: number * 20) }

  @Test(arguments: [0, 1, 99, 100, 4_096, 8_192, 40_000, 100_001, 500_000])
  func aTruncatedFileIsDamaged(size: Int) async throws {
    let content = try await Self.content.value
    try #require(size < content.count)
    let found = try await inspect(try await Self.store(content.prefix(size)))
    #expect(found.missing == 0 && found.changed == 0)
    #expect(found.damaged > 0)
    #expect(found.reported)
  }

  @Test(arguments: 0..<24)
  func flippedBitsAreDamageOrHarmless(seed: Int) async throws {
    var content = try await Self.content.value
    var generator = SeededGenerator(seed: UInt64(seed))
    for _ in 0..<(seed < 12 ? 1 : 50) {
      let position = Int.random(in: 0..<(seed % 3 == 0 ? 4_096 : content.count), using: &generator)
      content[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
    }
    let found = try await inspect(try await Self.store(content))
    // One lookup cannot distinguish a flipped bit in a key of the index from an absent entry; the check finds it.
    #expect(found.missing == 0 || found.reported, "seed \(seed)")
  }

  private struct Findings {
    var missing = 0
    var changed = 0
    var damaged = 0
    var reported = false
  }

  /// Reads everything in every way, and counts the results.
  private func inspect(_ folder: TestFolder) async throws -> Findings {
    var findings = Findings()
    guard let engine = try await unlessDamaged({ try await folder.open() }) else {
      return Findings(damaged: 1, reported: true)
    }
    for number in 0..<Self.count {
      let key = try Self.key(number).text
      let found = try await unlessDamaged { try await engine.payload(key) }
      if found == .none { findings.damaged += 1 }
      if found == .some(nil) { findings.missing += 1 }
      if case .some(let bytes?) = found, bytes != Self.payload(number) { findings.changed += 1 }
    }
    if try await unlessDamaged({ try await engine.scan(ScanRequest()) }) == nil { findings.damaged += 1 }
    if try await unlessDamaged({ try await engine.count() }) == nil { findings.damaged += 1 }
    findings.reported = try await !engine.check().isEmpty
    try await engine.close()
    return findings
  }

  /// Returns the result of `body`; `nil` if it throws because of damage.
  private func unlessDamaged<Output>(_ body: () async throws -> Output) async throws -> Output? {
    do {
      return try await body()
    } catch {
      let code = (error as? CacheError)?.code
      guard code == .damaged || code == .unsupportedFormat else { throw error }
      return nil
    }
  }

  @Test(arguments: [
    ("attributes = 'no json'", "metadata"), ("content_type = CAST(x'C328' AS TEXT)", "metadata"),
    ("payload_bytes = 1", "payload"), ("attributes = '[1]'", "metadata"),
  ])
  func aRowThatCannotBeDecodedIsDamaged(change: String, words: String) async throws {
    let folder = try TestFolder()
    let engine = try await folder.open()
    try await engine.put("cities/a", [1, 2, 3])
    try await engine.put("cities/b", [4])
    try OtherConnection(folder.store).execute("UPDATE entries SET \(change) WHERE key = 'cities/a'")
    let error = await #expect(throws: CacheError.self) { try await engine.payload("cities/a") }
    #expect(error?.code == .damaged)
    #expect(error?.message.contains("cities/a") == true && error?.message.contains(words) == true)
    #expect(try await engine.payload("cities/b") == [4])
    let issues = try await engine.check()
    #expect(issues.map(\.key?.text) == ["cities/a"] && issues.map(\.kind) == [.undecodable])
    try await engine.close()
  }

  /// The index of keys still has the rows of a page that is lost: a scan names the first of them.
  @Test func rowsOfALostPageAreNamed() async throws {
    var content = try await Self.content.value
    let pages = stride(from: 4_096, to: content.count, by: 4_096).filter { content[$0] == 0x0D }
    try #require(pages.count > 3)
    content.replaceSubrange(pages[2]..<pages[2] + 4_096, with: Data(count: 4_096))
    let folder = try await Self.store(content)
    let engine = try await folder.open()
    let keys = try (0..<Self.count).map(Self.key).sorted()
    var lost: Set<CacheKey> = []
    for key in keys {
      if try await unlessDamaged({ try await engine.payload(key.text) }) == nil { lost.insert(key) }
    }
    #expect(lost.count > 1 && lost.count < 100)
    for isDescending in [false, true] {
      for limit in [1, 100] {
        let (found, named) = try await walk(engine, ScanRequest(limit: limit, isDescending: isDescending))
        #expect(named == lost && found == Set(keys).subtracting(lost), "descending: \(isDescending)")
      }
    }
    #expect(try await engine.check().contains { $0.kind == .structure })
    try await engine.close()
  }

  /// Scans from `request` on, and continues after each entry that is named as unreadable.
  private func walk(
    _ engine: any StorageEngine, _ request: ScanRequest
  ) async throws -> (found: Set<CacheKey>, named: Set<CacheKey>) {
    var request = request
    var found: Set<CacheKey> = []
    var named: Set<CacheKey> = []
    repeat {
      do throws(CacheError) {
        let page = try await engine.scan(request)
        found.formUnion(page.entries.map(\.key))
        request.position = page.next
      } catch {
        let key = try #require((error.cause as? UnreadableEntry)?.key, "\(error)")
        #expect(error.code == .damaged && error.message.contains(key.text))
        named.insert(key)
        request.position = key.text
      }
    } while request.position != nil
    return (found, named)
  }

  /// Opened for a repair, a file that was cut gives every entry whose page is left. Otherwise SQLite reads nothing of it.
  @Test func aCutFileIsReadForARepair() async throws {
    // At the border of a page: what SQLite makes of half a page only the core's checksums tell.
    let content = try await Self.content.value
    let left = content.prefix(content.count / 4_096 * 9 / 10 * 4_096)
    let folder = try await Self.store(left)
    #expect(try await unlessDamaged { try await folder.open() } == nil)
    var configuration = try folder.configuration()
    configuration.isForRepair = true
    let engine = try await SQLitePlugin().open(configuration)
    var saved: [CacheKey: [UInt8]] = [:]
    for isDescending in [false, true] {
      var request = ScanRequest(includesPayloads: true, isDescending: isDescending)
      repeat {
        do throws(CacheError) {
          let page = try await engine.scan(request)
          for entry in page.entries { saved[entry.key] = entry.payload }
          request.position = page.next
        } catch {
          // Without a key the index itself is cut, and the rest must be read from the other end.
          request.position = (error.cause as? UnreadableEntry)?.key.text
        }
      } while request.position != nil
    }
    #expect(saved.count > Self.count * 3 / 4, "\(saved.count)")
    for number in 0..<Self.count {
      if let payload = saved[try Self.key(number)] { #expect(payload == Self.payload(number)) }
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.store)) == left)
    try await engine.close()
  }

  /// SQLite ends a log at the first damaged frame. The frames before it and the database itself are intact.
  @Test func aDamagedLogLosesNothingBeforeTheDamage() async throws {
    let folder = try TestFolder()
    let other = try await Self.store(try await Self.content.value)
    let engine = try await other.open()
    for number in 1...3 { try await engine.put("movies/\(number)", [UInt8](repeating: 7, count: 5_000)) }
    for suffix in ["", "-wal", ".uses"] {
      try FileManager.default.copyItem(atPath: other.store + suffix, toPath: folder.store + suffix)
    }
    try await engine.close()
    var log = try Data(contentsOf: URL(fileURLWithPath: folder.store + "-wal"))
    log[log.count - 5_000] ^= 1
    try log.write(to: URL(fileURLWithPath: folder.store + "-wal"))
    let damaged = try await folder.open()
    #expect(try await damaged.payload("movies/2")?.count == 5_000)
    #expect(try await damaged.payload("movies/3") == nil)
    #expect(try await damaged.count().entries == Self.count + 2)
    #expect(try await damaged.check().isEmpty)
    try await damaged.close()
  }
}
