public import StorageSPI

/// Some entries of a store, and where to go on.
public struct EntryListing: Sendable {
  /// The entries, in the order of their keys.
  public let entries: [EntrySummary]
  /// The key after which there are more; `nil` where there are none.
  public let cursor: CacheKey?
  /// What could not be listed.
  public let damage: StoreDamage
  /// The time at which the entries were read, which their state is judged by.
  public let readAt: Timestamp
}

/// An entry with its payload.
public struct StoredEntry: Sendable {
  /// The key, the metadata and the size.
  public let summary: EntrySummary
  /// The payload's bytes.
  public let payload: [UInt8]
  /// The time at which the entry was read, which its state is judged by.
  public let readAt: Timestamp
}
