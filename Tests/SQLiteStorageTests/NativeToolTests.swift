import Foundation
import EngineAPI
import Testing

/// The store is a table that the shell `sqlite3` reads.
@Suite struct NativeToolTests {
  @Test func theReadableViewShowsTimesAndOnlyJSON() async throws {
    let folder = try TestFolder()
    let engine = try await folder.open()
    try await engine.put("cities/a", Array(#"{"page":3}"#.utf8))
    try await engine.put("posters/a", [0xFF, 0xD8, 0x00], .sample(contentType: "image/jpeg"))
    try await engine.close()
    let rows = try folder.shell(
      "SELECT key, namespace, fresh_until, json_extract(json,'$.page') FROM entries_readable ORDER BY key")
    #expect(
      rows == "cities/a|cities|1970-01-01T00:00:02.000Z|3\nposters/a|posters|1970-01-01T00:00:02.000Z|")
  }

  @Test(arguments: [
    ("text", Array("grün".utf8), "text"), ("empty", [], "text"), ("null", [0x61, 0x00, 0x62], "blob"),
    ("invalid", [0xC3, 0x28], "blob"), ("surrogate", [0xED, 0xA0, 0x80], "blob"),
    ("mark", [0xEF, 0xBB, 0xBF, 0x61], "text"),
  ])
  func textIsStoredAsTextAndTheRestAsBlob(name: String, payload: [UInt8], type: String) async throws {
    try await expectStored(name, payload, as: type)
  }

  @Test(arguments: [("large", 0x61, "text"), ("largeblob", 0xFE, "blob")] as [(String, UInt8, String)])
  func soAreLargePayloads(name: String, byte: UInt8, type: String) async throws {
    try await expectStored(name, [UInt8](repeating: byte, count: 3_000_000), as: type)
  }

  private func expectStored(_ name: String, _ payload: [UInt8], as type: String) async throws {
    let folder = try TestFolder()
    let engine = try await folder.open()
    try await engine.put("cities/\(name)", payload)
    #expect(try await engine.payload("cities/\(name)") == payload)
    #expect(try folder.shell("SELECT typeof(payload), payload_bytes FROM entries") == "\(type)|\(payload.count)")
    #expect(try await engine.scan(ScanRequest()).entries.map(\.payloadBytes) == [payload.count])
    try await engine.close()
  }

  @Test func lookingUpAKeyUsesTheIndex() async throws {
    let folder = try TestFolder()
    try await folder.open().close()
    let found = try folder.shell("EXPLAIN QUERY PLAN SELECT payload FROM entries WHERE key = 'a'")
    #expect(found.contains("USING INDEX sqlite_autoindex_entries_1 (key=?)"), "\(found)")
  }
}
