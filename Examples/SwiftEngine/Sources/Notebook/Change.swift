internal import EngineAPI
internal import FoundationEssentials

/// A change of an entry, as the file has it.
struct Change: Codable {
  private let key: String
  /// All metadata as bytes; missing if the entry is removed.
  private var metadata: Data?
  /// Missing if the entry with the checksum `updated` keeps its payload.
  private var payload: Data?
  private var updated: UInt64?

  /// The change that `operation` makes; `nil` if it only requires something.
  init?(_ operation: WriteBatch.Operation) {
    key = operation.key.text
    switch operation {
    case .put(_, let payload, let metadata): (self.metadata, self.payload) = (Data(metadata.encoded()), Data(payload))
    case .update(_, let metadata, let checksum): (self.metadata, updated) = (Data(metadata.encoded()), checksum)
    case .remove: break
    case .require: return nil
    }
  }

  /// The operation that makes the change.
  func operation() throws(CacheError) -> WriteBatch.Operation {
    let key = try CacheKey(key)
    // A change that lacks only its metadata is damaged: it removes nothing.
    if metadata == nil, payload == nil, updated == nil { return .remove(key) }
    if let bytes = metadata, let metadata = EntryMetadata(encoded: bytes.bytes) {
      if let payload { return .put(key, payload: [UInt8](payload), metadata) }
      if let updated { return .update(key, metadata, from: updated) }
    }
    throw CacheError(.damaged, "the change of \(key) is damaged")
  }
}
