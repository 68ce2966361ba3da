internal import FetchVocabulary
public import StorageSPI

/// An entry on its way from one store to another, with everything known about it.
public struct ExportedEntry: Sendable, Hashable {
  /// The entry's key.
  public let key: CacheKey
  /// The entry's metadata, with the checksum from when it was stored.
  public let metadata: EntryMetadata
  /// The payload's bytes.
  public let payload: [UInt8]
  /// How the entry was used; `nil` if unknown.
  public let history: AccessHistory?

  /// Creates an entry.
  public init(key: CacheKey, metadata: EntryMetadata, payload: [UInt8], history: AccessHistory? = nil) {
    self.key = key
    self.metadata = metadata
    self.payload = payload
    self.history = history
  }
}

extension ExportedEntry {
  /// Copies the entry under `key` with the payload `bytes`.
  ///
  /// - Throws: `CacheError`: `damaged` if the entry is not as it was written.
  init(
    verifying bytes: Span<UInt8>, _ metadata: EntryMetadata, key: CacheKey, history: AccessHistory?
  ) throws(CacheError) {
    try metadata.verify(key: key, payload: bytes)
    self.init(
      key: key, metadata: metadata, payload: bytes.withUnsafeBufferPointer { Array($0) }, history: history)
  }
}

extension EntryStore {
  /// The entry under `key` with a copy of its payload, even if it is expired; `nil` if there is none.
  ///
  /// - Throws: `CacheError`: `damaged` if the entry is not as it was written, or the engine's failure.
  func export(_ key: CacheKey, history: AccessHistory?) async throws(CacheError) -> ExportedEntry? {
    try await engine.read(key) { bytes, metadata throws(CacheError) in
      try ExportedEntry(verifying: bytes, metadata, key: key, history: history)
    }
  }
}

extension EntryStore {
  /// Whether an entry stored at `left` is newer than one stored at `right`. An entry stored ahead of the clock has an
  /// unknown age (see `EntryAge`), and counts as older than any entry of known age.
  func isNewer(_ left: Timestamp, than right: Timestamp) -> Bool {
    let latest = clock.now.advanced(by: EntryAge.tolerance)
    guard (left > latest) == (right > latest) else { return left < right }
    return left > right
  }
}

extension EntryMetadata {
  /// Whether two entries under the same key are the same, if both checksums have been verified: the checksum covers
  /// every other field and the payload.
  func isSame(as other: EntryMetadata) -> Bool { checksum == other.checksum && self == other }
}
