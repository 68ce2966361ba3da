internal import EngineSupport
internal import FoundationEssentials
internal import StorageSPI

/// A change of an entry, as the file has it.
struct Change: Codable {
  /// What is stored; without it the entry is removed.
  struct Entry: Codable {
    let payload: Data
    let storedAt, freshUntil, retainUntil: Int64
    let contentType: String
    let attributes: [String: String]
    let checksum: UInt64
  }

  let key: String
  let entry: Entry?

  /// The change that `operation` makes; `nil` where it only requires something.
  init?(_ operation: WriteBatch.Operation) {
    switch operation {
    case .put(let key, let payload, let metadata): self.init(key, .init(payload: payload, metadata: metadata))
    case .remove(let key): self.init(key, nil)
    case .require: return nil
    }
  }

  /// The change that stores `entry`, or removes what is under `key`.
  init(_ key: CacheKey, _ entry: EntryTable.Entry?) {
    self.key = key.text
    self.entry = entry.map { entry in
      let metadata = entry.metadata
      return Entry(
        payload: Data(entry.payload), storedAt: metadata.storedAt.milliseconds,
        freshUntil: metadata.freshUntil.milliseconds, retainUntil: metadata.retainUntil.milliseconds,
        contentType: metadata.contentType, attributes: metadata.attributes, checksum: metadata.checksum)
    }
  }
}

extension [Change] {
  /// The changes as a batch.
  func batch() throws(CacheError) -> WriteBatch {
    var batch = WriteBatch()
    for change in self {
      let key = try CacheKey(change.key)
      guard let entry = change.entry else {
        batch.remove(key)
        continue
      }
      let metadata = EntryMetadata(
        storedAt: Timestamp(milliseconds: entry.storedAt), freshUntil: Timestamp(milliseconds: entry.freshUntil),
        retainUntil: Timestamp(milliseconds: entry.retainUntil), contentType: entry.contentType,
        attributes: entry.attributes, checksum: entry.checksum)
      batch.put(key, payload: [UInt8](entry.payload), metadata: metadata)
    }
    return batch
  }
}
