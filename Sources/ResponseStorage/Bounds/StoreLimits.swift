public import StorageSPI

/// How much a store may hold, and what goes when it would hold more.
public struct StoreLimits: Sendable, Hashable {
  /// The largest number of entries, 1 or more. The leases of flights are not counted.
  public let maxEntries: Int
  /// The largest sum of the sizes of all payloads, in bytes.
  public let maxBytes: Int
  /// Which entries go first.
  public let eviction: EvictionPolicy

  /// Limits with the given fields.
  public init(maxEntries: Int, maxBytes: Int, eviction: EvictionPolicy) {
    self.maxEntries = maxEntries
    self.maxBytes = maxBytes
    self.eviction = eviction
  }

  /// What an engine is to check.
  public var bounds: StoreBounds {
    StoreBounds(maxEntries: maxEntries, maxPayloadBytes: maxBytes, exemptNamespace: Lease.namespace)
  }
}

/// The failures of writing to a store that has limits.
extension StoreLimits {
  /// An entry would not even fit into an empty store.
  func tooLarge(_ key: CacheKey, bytes: Int) -> StorageError {
    StorageError(
      .tooLarge,
      "entry \(key) has \(bytes) bytes, more than the \(maxBytes) that cache.maxBytes allows for all entries together",
      hint: "raise cache.maxBytes in the configuration")
  }

  /// The policy allows no entry to go that is not expired.
  func noRoom(for key: CacheKey) -> StorageError {
    StorageError(
      .overBounds,
      "there is no room for entry \(key): cache.maxEntries is \(maxEntries), cache.maxBytes \(maxBytes), and "
        + "cache.eviction is none",
      hint: "remove entries, raise these bounds, or choose another cache.eviction")
  }

  /// Whatever room was made, others took it, or they removed what was to be removed.
  func neverRoom(for key: CacheKey) -> StorageError {
    StorageError(
      .busy, "entry \(key) cannot be stored: other writers fill the store as fast as room is made in it",
      hint: "try again")
  }
}
