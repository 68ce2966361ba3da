public import StorageSPI

/// A page of a store's entries, and where to continue.
public struct EntryListing: Sendable {
  /// The entries, sorted by key.
  public let entries: [EntrySummary]
  /// The key after which the listing continues; `nil` if it is complete.
  public let cursor: CacheKey?
  /// What could not be listed.
  public let damage: StoreDamage
  /// When the entries were read. Their states are those at this time.
  public let readAt: Timestamp
}

/// An entry with its payload.
public struct StoredEntry: Sendable {
  /// The key, the metadata and the size.
  public let summary: EntrySummary
  /// The payload's bytes.
  public let payload: [UInt8]
  /// When the entry was read. Its state is that at this time.
  public let readAt: Timestamp

  package init(summary: EntrySummary, payload: [UInt8], readAt: Timestamp) {
    (self.summary, self.payload, self.readAt) = (summary, payload, readAt)
  }
}
