import EngineConformance
import EngineAPI

@testable import CacheCore

/// Entries of every shape, generated from a seed, with valid checksums.
enum GeneratedEntries {
  /// Payloads that are easily confused: empty, every byte, text with escapes, text that is not normalized, half a
  /// character, zeros.
  static let payloads: [[UInt8]] = [
    [], Array(0...255), Array("{\"a\": \"b\\n\"}\n\r\t\u{7F}\u{0}\u{2028}\u{85}é e\u{301} 🦜".utf8), [0xF0, 0x9F],
    [0, 0],
    Array(repeating: 0xFF, count: 3_000),
  ]

  static func entries(seed: UInt64, count: Int, at now: Timestamp) throws -> [ExportedEntry] {
    var generator = SeededGenerator(seed: seed)
    return try (0..<count).map { index in
      let payload = index < payloads.count ? payloads[index] : bytes(&generator)
      return try entry("\(["cities", "movies", "posters"][index % 3])/v1/n=\(index)", payload, at: now, &generator)
    }
  }

  static func entry(
    _ key: String, _ payload: [UInt8], at now: Timestamp, _ generator: inout SeededGenerator
  ) throws -> ExportedEntry {
    let times = [
      Timestamp(milliseconds: 0), now, now.advanced(by: .milliseconds(-1)), now.advanced(by: .seconds(86_400 * 365)),
      .distantFuture,
    ]
    let attributes: [[String: String]] = [
      [:], ["etag": "\"é\""], ["": "", "\u{0}": "\u{1F}\"\\/"], ["e\u{301}": "\r\n", "name": "🦜"],
    ]
    let metadata = EntryMetadata(
      storedAt: times[Int.random(in: 0..<4, using: &generator)],
      freshUntil: times[Int.random(in: 0..<5, using: &generator)],
      retainUntil: times[Int.random(in: 3..<5, using: &generator)],
      contentType: ["application/json", "", "text/plain; charset=\"utf-8\""][Int.random(in: 0..<3, using: &generator)],
      attributes: attributes[Int.random(in: 0..<4, using: &generator)])
    return try sealed(key, payload, metadata)
  }

  /// The entry with a valid checksum.
  static func sealed(
    _ key: String, _ payload: [UInt8], _ metadata: EntryMetadata, use: AccessHistory? = nil
  ) throws -> ExportedEntry {
    let key = try CacheKey(key)
    var metadata = metadata
    metadata.setChecksums(key: key, payload: payload.span)
    return ExportedEntry(key: key, metadata: metadata, payload: payload, history: use)
  }

  private static func bytes(_ generator: inout SeededGenerator) -> [UInt8] {
    (0..<Int.random(in: 0...200, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }
}

extension [ExportedEntry] {
  /// The lines of an export of these entries.
  var lines: [UInt8] { reduce(into: []) { $1.encode(to: &$0) } }
}

extension StorageEngine {
  /// Stores entries unchanged.
  func store(_ entries: [ExportedEntry]) async throws {
    var batch = WriteBatch()
    for entry in entries { batch.put(entry.key, payload: entry.payload, metadata: entry.metadata) }
    try await apply(batch)
  }

  /// All entries, sorted by key.
  func allEntries() async throws -> [ExportedEntry] {
    var request = ScanRequest(limit: 100_000, includesPayloads: true)
    var entries: [ExportedEntry] = []
    repeat {
      let page = try await scan(request)
      entries += page.entries.map { ExportedEntry(key: $0.key, metadata: $0.metadata, payload: $0.payload ?? []) }
      request.position = page.next
    } while request.position != nil
    return entries
  }
}
