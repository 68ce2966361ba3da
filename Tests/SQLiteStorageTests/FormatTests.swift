import Foundation
import StorageSPI
import Testing

/// Stores that released versions of the program have written.
@Suite struct FormatTests {
  /// A copy of the store called `name`, as the program left it.
  private func copyOfFixture(_ name: String) throws -> TestFolder {
    let folder = try TestFolder()
    for suffix in ["", "-wal"] {
      let source = "\(FixtureEntries.folder)/\(name).sqlite\(suffix)"
      guard FileManager.default.fileExists(atPath: source) else { continue }
      try FileManager.default.copyItem(atPath: source, toPath: folder.store + suffix)
    }
    return folder
  }

  @Test(arguments: [("version-1", false), ("version-1-log", false), ("version-1-empty", true)])
  func everyEntryOfAnOldStoreIsThere(name: String, isEmpty: Bool) async throws {
    let folder = try copyOfFixture(name)
    let expected = isEmpty ? [] : try FixtureEntries.all().sorted { $0.key < $1.key }
    let engine = try await folder.open()
    #expect(try await engine.everything() == expected)
    var tally = EntryTally()
    for entry in expected {
      tally.add(EntryTally.Slot(namespace: entry.key.namespace, entry.metadata), payloadBytes: entry.payload.count)
    }
    #expect(try await engine.statistics().tally == tally)
    #expect(try await engine.checkIntegrity().isEmpty)
    try await engine.close()
  }
}
