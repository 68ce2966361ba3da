/// An engine that reads many entries in hardly more time than one, such as one whose reads are round trips to a server.
///
/// Whatever goes through a whole store reads by it: checks, exports, migrations. From any other engine the core reads one
/// entry after another.
public protocol BatchReading: StorageEngine {
  /// Copies of the entries under `keys`.
  ///
  /// - Parameter keys: up to some hundred different keys, whose payloads fit into memory together.
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
  /// Whether the error of a read says that there is an entry which cannot be read back: others may be sound.
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
