import EngineSupport
import Foundation
import StorageSPI
import Testing

@testable import LMDBStorage

/// Stores of earlier format versions hold what was put into them.
@Suite struct FixtureTests {
  @Test(arguments: Fixture.allCases) func everyEntryIsFoundByteForByte(fixture: Fixture) async throws {
    let store = try fixture.copy()
    let engine = try await store.open()
    try await Self.expect(engine, toHold: fixture.entries)
    #expect(try await engine.checkIntegrity() == [])
    try await engine.close()
  }

  @Test(arguments: Fixture.allCases) func firstWriteUpgradesInOneStep(fixture: Fixture) async throws {
    let (store, plugin) = (try fixture.copy(), LMDBPlugin())
    let before = try store.bytes
    let engine = try await store.open()
    try await engine.remove("cities/none")
    try await Self.expect(engine, toHold: fixture.entries)
    #expect(try await plugin.inspect(store.configuration).format == 2)
    try await engine.close()
    // What a crash leaves that comes after all pages were written, but before the meta page that leads to them.
    var interrupted = try store.bytes
    let metaPages = try interrupted.withUnsafeBytes { try LMDBMetaPage.both(in: $0) }
    let page = metaPages[1].transaction > metaPages[0].transaction ? 4_096 : 0
    interrupted.replaceSubrange(page..<page + 4_096, with: before[page..<page + 4_096])
    try Data(interrupted).write(to: URL(fileURLWithPath: store.dataFile))
    #expect(try await plugin.inspect(store.configuration).format == 1)
    let again = try await store.open()
    try await Self.expect(again, toHold: fixture.entries)
    #expect(try await again.checkIntegrity() == [])
    try await again.close()
  }

  @Test(arguments: Fixture.allCases) func whatMayOnlyBeReadIsCounted(fixture: Fixture) async throws {
    let store = try fixture.copy()
    let before = try store.bytes
    let engine = try await store.open()
    try await Self.expect(engine, toHold: fixture.entries)
    try await engine.close()
    #expect(try store.bytes == before)
  }

  /// Expects exactly `entries`, ordered by key, in every way of looking at them.
  static func expect(_ engine: any StorageEngine, toHold entries: [Fixture.Entry]) async throws {
    let found = try await engine.scan(KeyRange(prefix: ""), limit: 1_000)
    #expect(found.map(\.key.text) == entries.map(\.key))
    #expect(found.map(\.metadata) == entries.map(\.metadata))
    #expect(found.map(\.payloadBytes) == entries.map(\.payload.count))
    for (key, payload, metadata) in entries {
      let read = try await engine.read(CacheKey(key)) { bytes, metadata in
        EntryTable.Entry(payload: bytes.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
      }
      #expect(read == EntryTable.Entry(payload: payload, metadata: metadata), "\(key)")
    }
    #expect(try await engine.statistics().tally == tally(of: entries))
  }

  static func tally(of entries: [Fixture.Entry]) throws -> EntryTally {
    var tally = EntryTally()
    for (key, payload, metadata) in entries {
      let slot = EntryTally.Slot(namespace: try CacheKey(key).namespace, metadata)
      tally.add(slot, payloadBytes: payload.count)
    }
    return tally
  }
}
