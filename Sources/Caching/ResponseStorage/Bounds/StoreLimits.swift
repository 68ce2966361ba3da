public import StorageSPI

/// How much a store may hold, and what it evicts to stay within that.
public struct StoreLimits: Sendable, Hashable {
  /// The largest number of entries, 1 or more. The leases of flights do not count.
  public let maxEntries: Int
  /// The largest total size of all payloads, in bytes.
  public let maxBytes: Int
  /// Which entries are evicted first.
  public let eviction: EvictionPolicy

  /// Creates limits for a store.
  public init(maxEntries: Int, maxBytes: Int, eviction: EvictionPolicy) {
    self.maxEntries = maxEntries
    self.maxBytes = maxBytes
    self.eviction = eviction
  }

  /// The bounds that the engine checks.
  public var bounds: StoreBounds {
    StoreBounds(maxEntries: maxEntries, maxPayloadBytes: maxBytes, exemptNamespace: Lease.namespace)
  }
}

/// Errors of writing to a store that has limits.
extension StoreLimits {
  /// An entry is too large even for an empty store.
  func tooLarge(_ key: CacheKey, bytes: Int) -> CacheError {
    CacheError(
      .tooLarge,
      "entry \(key) has \(bytes) bytes, more than the \(maxBytes) that cache.maxBytes allows for all entries together",
      hint: "raise cache.maxBytes in the configuration")
  }

  /// The store is full, and the policy allows only expired entries to be evicted.
  func noRoom(for key: CacheKey) -> CacheError {
    CacheError(
      .overBounds,
      "there is no room for entry \(key): cache.maxEntries is \(maxEntries), cache.maxBytes \(maxBytes), and "
        + "cache.eviction is none",
      hint: "remove entries, raise these bounds, or choose another cache.eviction")
  }

  /// Other writers kept taking the room, or changing the victims.
  func neverRoom(for key: CacheKey) -> CacheError {
    CacheError(
      .busy, "entry \(key) cannot be stored: other writers fill the store as fast as room is made in it",
      hint: "try again")
  }
}
