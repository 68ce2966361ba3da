/// An engine that can read many entries in little more time than one, for example because each read is a round trip to a
/// server.
///
/// Checks, exports, imports and migrations use it. With any other engine the core reads one entry after another.
public protocol BatchReading: StorageEngine {
  /// Copies of the entries under `keys`.
  ///
  /// - Parameter keys: up to a few hundred different keys, whose payloads fit into memory together.
  /// - Returns: for each of `keys`, in that order, the entry, or `nil` if there is none; or why it cannot be read back:
  ///   what `read(_:_:)` would throw.
  /// - Throws: `CacheError`: `closed`, `cancelled`, `unreachable`, `ioFailed`: nothing could be read.
  func read(_ keys: [CacheKey]) async throws(CacheError) -> [Result<ReadEntry?, CacheError>]
}

extension BatchReading {
  /// This engine.
  public var batchReader: (any BatchReading)? { self }
}

extension CacheError {
  /// Whether the error says that this one entry cannot be read back. Other entries may still be sound.
  public var isUnreadableEntry: Bool { code == .damaged || code == .unsupportedFormat }
}

/// A copy of an entry.
public struct ReadEntry: Sendable, Hashable {
  /// The entry's bytes.
  public let payload: [UInt8]
  /// The entry's metadata.
  public let metadata: EntryMetadata

  /// A copy with the payload bytes `payload`.
  public init(payload: [UInt8], metadata: EntryMetadata) {
    (self.payload, self.metadata) = (payload, metadata)
  }
}
