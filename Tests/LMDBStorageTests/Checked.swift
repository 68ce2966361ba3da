import EngineSupport
import StorageSPI

@testable import LMDBStorage

/// Entries whose checksum is one of their key, payload and metadata, as the core makes it.
enum Checked {
  static func metadata(_ key: String, _ payload: [UInt8], number: Int = 0) -> EntryMetadata {
    var metadata = EntryMetadata.sample()
    metadata.freshUntil = Timestamp(milliseconds: Int64(number) << 21)
    metadata.checksum = checksum(key, payload, metadata)
    return metadata
  }

  static func isSound(_ key: CacheKey, _ payload: Span<UInt8>, _ metadata: EntryMetadata) -> Bool {
    checksum(key.text, payload.withUnsafeBufferPointer { Array($0) }, metadata) == metadata.checksum
  }

  private static func checksum(_ key: String, _ payload: [UInt8], _ metadata: EntryMetadata) -> UInt64 {
    var metadata = metadata
    metadata.checksum = 0
    return (Array(key.utf8) + [0] + LMDBEntryHeader(metadata).bytes + payload).withUnsafeBytes { FNV1a.hash($0) }
  }
}

extension StorageEngine {
  /// All entries that can be read, by key.
  func entries(step: Int = 1_000) async throws -> [String: EntryTable.Entry] {
    var entries: [String: EntryTable.Entry] = [:]
    for key in try await keys(step: step) { entries[key] = try await entry(key) }
    return entries
  }

  func entry(_ key: String) async throws -> EntryTable.Entry? {
    try await read(CacheKey(key)) { bytes, metadata in
      EntryTable.Entry(payload: bytes.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
    }
  }
}
