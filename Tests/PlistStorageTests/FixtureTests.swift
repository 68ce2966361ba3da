import EngineAPI
import Foundation
import Testing

@testable import PlistStorage

/// Stores of format 1 are read to the byte, and the engine writes format 1.
@Suite struct FixtureTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Fixtures/"

  /// A copy of the store `name`.
  private func copy(_ name: String) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try FileManager.default.copyItem(atPath: Self.folder + name, toPath: folder.store)
    return folder
  }

  private func expect(_ folder: TemporaryFolder, holds entries: [CacheKey: EntryTable.Entry]) async throws {
    let engine = try await folder.open()
    #expect(try await engine.check() == [])
    #expect(try await engine.scan(ScanRequest()).entries.map(\.key) == entries.keys.sorted())
    for (key, entry) in entries {
      let found = try #require(try await engine.entry(key))
      #expect(found.payload == entry.payload, "\(key.text.prefix(60))")
      #expect(found.metadata == entry.metadata, "\(key.text.prefix(60))")
      let names = found.metadata.attributes.map { Array($0.key.utf8) + [0] + Array($0.value.utf8) }
      #expect(Set(names) == Set(entry.metadata.attributes.map { Array($0.key.utf8) + [0] + Array($0.value.utf8) }))
    }
    #expect(try await engine.count().namespaces == EntryTable(entries).count.namespaces)
  }

  @Test func aStoreOfFormat1HoldsEveryEntry() async throws {
    let folder = try copy("format-1")
    try await expect(folder, holds: FixtureContent.entries())
  }

  @Test func anInterruptedBatchOfFormat1IsFinished() async throws {
    let folder = try copy("format-1-interrupted")
    var entries = try FixtureContent.entries().filter { $0.key.namespace != "movies" }
    let (key, entry) = try FixtureContent.put()
    entries[key] = entry
    try await expect(folder, holds: entries)
    #expect(try !folder.names().contains("store.commit"))
  }

  @Test func format1IsStillWritten() async throws {
    let folder = try TemporaryFolder()
    var batch = WriteBatch()
    for (key, entry) in try FixtureContent.entries() {
      batch.put(key, payload: entry.payload, metadata: entry.metadata)
    }
    try await folder.open().apply(batch)
    for name in try copy("format-1").names() {
      #expect(try folder.bytes(name) == copy("format-1").bytes(name), "\(name)")
    }
  }
}
