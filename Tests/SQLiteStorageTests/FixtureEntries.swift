import Foundation
import StorageSPI
import Testing

/// An entry as tests know it.
struct KnownEntry: Sendable, Hashable {
  let key: CacheKey
  let payload: [UInt8]
  let metadata: EntryMetadata
}

/// What the stores in the folder `Fixtures` hold. It never changes: stores of every released format were written from
/// it, as the note in that folder says.
enum FixtureEntries {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Fixtures"

  static func all() throws -> [KnownEntry] {
    try [
      entry("cities/v1/order=revenue/origin=sample/page=0/sort=desc", Array(#"{"page":0,"name":"Łódź"}"#.utf8), 1),
      entry("cities/v1/empty", [], 2),
      entry("cities/v1/" + String(repeating: "k", count: CacheKey.maximumLength - 10), Array("long".utf8), 3),
      entry("leases/v1/one", [0x00], 4),
      entry("movies/v1/origin=sample/page=1/query=heat", Array(repeating: 0x61, count: 9_000), 5),
      entry("movies/v1/invalid", [0xC3, 0x28], 6),
      entry("posters/v1/path=%2Fa.jpg/width=92", (0..<12_000).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 >> 8) }, 7),
    ] + (0..<40).map { try entry("queries/v1/\($0)", Array("query \($0)".utf8), 100 + $0) }
  }

  /// Puts them all in one batch, and the first again in a batch of its own.
  static func write(to engine: any StorageEngine) async throws {
    let entries = try all()
    var batch = WriteBatch()
    for entry in entries { batch.put(entry.key, payload: entry.payload, metadata: entry.metadata) }
    try await engine.apply(batch)
    try await engine.put(entries[0].key.text, entries[0].payload, entries[0].metadata)
  }

  private static func entry(_ key: String, _ payload: [UInt8], _ number: Int64) throws -> KnownEntry {
    let start = 1_767_225_600_000 + number * 1_234_567
    let attributes = [
      ["etag": "W/\"\(number)\"", "": "", "q\"\\\u{0}\u{1F}/": "\u{10FFFF}é\r\n"], [:], ["etag": "x\(number)"],
    ]
    let contentType = ["application/json", "a\u{0}b\"ü\n", "image/jpeg", ""][Int(number) % 4]
    return KnownEntry(
      key: try CacheKey(key), payload: payload,
      metadata: EntryMetadata(
        storedAt: Timestamp(milliseconds: start), freshUntil: Timestamp(milliseconds: start + 3_600_000),
        retainUntil: number == 5 ? .distantFuture : Timestamp(milliseconds: start + 86_400_000),
        contentType: contentType, attributes: attributes[Int(number) % 3],
        checksum: UInt64(number) &* 0x9E37_79B9_7F4A_7C15))
  }
}

extension StorageEngine {
  /// Every entry of the store, found by scans and then read one by one.
  func everything() async throws -> [KnownEntry] {
    var (entries, range) = ([KnownEntry](), KeyRange())
    while true {
      let page = try await scan(range, limit: 7)
      for summary in page {
        let entry = try await read(summary.key) { bytes, metadata in
          KnownEntry(key: summary.key, payload: bytes.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
        }
        entries.append(try #require(entry, "\(summary.key) was scanned and is absent"))
        #expect(summary.metadata == entry?.metadata && summary.payloadBytes == entry?.payload.count)
      }
      guard let last = page.last else { return entries }
      range.after = last.key
    }
  }
}
