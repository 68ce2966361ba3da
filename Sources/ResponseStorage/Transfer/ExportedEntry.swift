internal import CacheDomain
public import StorageSPI

/// An entry as it travels from one store to another: everything that is known of it.
public struct ExportedEntry: Sendable, Hashable {
  /// The entry's key.
  public let key: CacheKey
  /// The entry's metadata, the checksum that was made when it was stored among them.
  public let metadata: EntryMetadata
  /// The payload's bytes.
  public let payload: [UInt8]
  /// How the entry was used; `nil` where that is not known.
  public let use: EntryUse?

  /// An entry of the given parts.
  public init(key: CacheKey, metadata: EntryMetadata, payload: [UInt8], use: EntryUse? = nil) {
    self.key = key
    self.metadata = metadata
    self.payload = payload
    self.use = use
  }
}

extension EntryStore {
  /// The entry under `key`, its payload copied, also an expired one; `nil` where there is none.
  ///
  /// - Throws: `StorageError`: `damaged` where the entry is not what was written, or the engine's failure.
  func export(_ key: CacheKey, use: EntryUse?) async throws(StorageError) -> ExportedEntry? {
    try await engine.read(key) { bytes, metadata throws(StorageError) in
      try metadata.verify(key: key, payload: bytes)
      return ExportedEntry(
        key: key, metadata: metadata, payload: bytes.withUnsafeBufferPointer { Array($0) }, use: use)
    }
  }

  /// The metadata under `key` of an entry that was checked to be what was written; `nil` where there is none.
  ///
  /// - Throws: `StorageError`: `damaged` where the entry is not what was written, or the engine's failure.
  func verifiedMetadata(_ key: CacheKey) async throws(StorageError) -> EntryMetadata? {
    try await engine.read(key) { bytes, metadata throws(StorageError) in
      try metadata.verify(key: key, payload: bytes)
      return metadata
    }
  }
}

extension EntryStore {
  /// Whether an entry stored at `left` is newer than one stored at `right`. One that was stored ahead of the clock is of
  /// unknown age (see `EntryAge`), and older than any whose age is known.
  func isNewer(_ left: Timestamp, than right: Timestamp) -> Bool {
    let latest = clock.now.advanced(by: EntryAge.tolerance)
    guard (left > latest) == (right > latest) else { return left < right }
    return left > right
  }
}

extension EntryMetadata {
  /// Whether an entry with this metadata is the same as one with `other` under the same key, given that both were
  /// checked to be what was written: the checksum covers every other field and the payload.
  func isSame(as other: EntryMetadata) -> Bool { checksum == other.checksum && self == other }
}
