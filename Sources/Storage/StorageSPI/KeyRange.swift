/// The keys that a scan visits: those with a given prefix that come after a given key.
public struct KeyRange: Sendable, Hashable {
  /// The prefix of every key; empty for all keys.
  public var prefix: String

  /// The scan starts after this key; `nil` to start at the first key.
  public var after: CacheKey?

  /// The range of keys that begin with `prefix` and come after `after`.
  public init(prefix: String = "", after: CacheKey? = nil) {
    self.prefix = prefix
    self.after = after
  }

  /// Whether the scan visits `key`.
  public func contains(_ key: CacheKey) -> Bool {
    if let after, key <= after { return false }
    return key.text.hasPrefix(prefix)
  }
}

/// An entry as a scan reports it: everything but the payload.
public struct EntrySummary: Sendable, Hashable {
  /// The entry's key.
  public let key: CacheKey
  /// The entry's metadata.
  public let metadata: EntryMetadata
  /// The size of the payload, in bytes.
  public let payloadBytes: Int

  /// The summary of an entry whose payload has `payloadBytes` bytes.
  public init(key: CacheKey, metadata: EntryMetadata, payloadBytes: Int) {
    self.key = key
    self.metadata = metadata
    self.payloadBytes = payloadBytes
  }
}
