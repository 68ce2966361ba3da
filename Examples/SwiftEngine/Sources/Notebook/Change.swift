internal import EngineAPI
internal import FoundationEssentials

/// A change of an entry, as the file has it.
struct Change: Codable {
  /// The entry to store; without it the entry under the key is removed.
  struct Entry: Codable {
    /// Missing if the entry with the checksum `updated` keeps its payload.
    var payload: Data?
    var updated: UInt64?
    let storedAt, freshUntil, retainUntil: Int64
    let contentType: String
    let attributes: [String: String]
    let payloadChecksum, checksum: UInt64

    init(_ metadata: EntryMetadata) {
      storedAt = metadata.storedAt.milliseconds
      freshUntil = metadata.freshUntil.milliseconds
      retainUntil = metadata.retainUntil.milliseconds
      contentType = metadata.contentType
      attributes = metadata.attributes
      payloadChecksum = metadata.payloadChecksum
      checksum = metadata.checksum
    }

    var metadata: EntryMetadata {
      EntryMetadata(
        storedAt: Timestamp(milliseconds: storedAt), freshUntil: Timestamp(milliseconds: freshUntil),
        retainUntil: Timestamp(milliseconds: retainUntil), contentType: contentType, attributes: attributes,
        payloadChecksum: payloadChecksum, checksum: checksum)
    }
  }

  let key: String
  let entry: Entry?

  /// The change that `operation` makes; `nil` if it only requires something.
  init?(_ operation: WriteBatch.Operation) {
    switch operation {
    case .put(let key, let payload, let metadata): self.init(key, .init(payload: payload, metadata: metadata))
    case .update(let key, let metadata, let checksum):
      var entry = Entry(metadata)
      entry.updated = checksum
      self.init(key: key.text, entry: entry)
    case .remove(let key): self.init(key, nil)
    case .require: return nil
    }
  }

  /// The change that stores `entry`, or removes the entry under `key`.
  init(_ key: CacheKey, _ entry: EntryTable.Entry?) {
    let stored = entry.map { entry in
      var stored = Entry(entry.metadata)
      stored.payload = Data(entry.payload)
      return stored
    }
    self.init(key: key.text, entry: stored)
  }

  private init(key: String, entry: Entry?) {
    self.key = key
    self.entry = entry
  }
}

extension [Change] {
  /// The changes as a batch.
  func batch() throws(CacheError) -> WriteBatch {
    var batch = WriteBatch()
    for change in self {
      let key = try CacheKey(change.key)
      if let entry = change.entry, let payload = entry.payload {
        batch.put(key, payload: [UInt8](payload), metadata: entry.metadata)
      } else if let entry = change.entry {
        batch.update(key, metadata: entry.metadata, from: entry.updated ?? 0)
      } else {
        batch.remove(key)
      }
    }
    return batch
  }
}
