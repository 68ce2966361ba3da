public import EngineAPI

/// How much a store may hold, and what it evicts to stay within that.
public struct StoreLimits: Sendable, Hashable {
  /// The largest number of entries, 1 or more. The leases of requests do not count.
  public let maxEntries: Int
  /// The largest total size of all payloads, in bytes, 1 or more.
  public let maxBytes: Int
  /// Which entries are evicted first.
  public let eviction: EvictionPolicy

  /// Creates limits for a store, with those of `standard` for what is left out.
  public init(maxEntries: Int = 100_000, maxBytes: Int = 1 << 30, eviction: EvictionPolicy = .lru) {
    self.maxEntries = maxEntries
    self.maxBytes = maxBytes
    self.eviction = eviction
  }

  /// 100,000 entries and 1 GiB, with the least recently used evicted first.
  public static let standard = StoreLimits()

  /// The bounds that the engine checks.
  public var bounds: StoreBounds {
    StoreBounds(maxEntries: maxEntries, maxPayloadBytes: maxBytes, exemptNamespace: Lease.namespace)
  }
}

/// Errors of a store that has limits.
extension StoreLimits {
  /// - Throws: `CacheError` with the code `invalidOption` if the limits leave no room for an entry.
  package func requireRoom() throws(CacheError) {
    guard maxEntries > 0, maxBytes > 0 else {
      throw CacheError(
        .invalidOption, "nothing can be stored: maxEntries is \(maxEntries), and maxBytes \(maxBytes)",
        hint: "give limits of 1 or more, or nil for no limits")
    }
  }

  /// An entry is too large even for an empty store.
  func tooLarge(_ key: CacheKey, bytes: Int) -> CacheError {
    CacheError(
      .tooLarge,
      "entry \(key) has \(bytes) bytes, more than maxBytes (\(maxBytes)) allows for all entries together",
      hint: "raise maxBytes")
  }

  /// The store is full, and the policy lets too few entries go.
  func noRoom(for key: CacheKey) -> CacheError {
    CacheError(
      .overBounds,
      "there is no room for entry \(key): maxEntries is \(maxEntries), maxBytes \(maxBytes), "
        + "and eviction is \(eviction.name)",
      hint: "remove entries, raise these limits, or choose another eviction")
  }

  /// Other writers kept taking the room, or changing the victims.
  func neverRoom(for key: CacheKey) -> CacheError {
    CacheError(
      .busy, "entry \(key) cannot be stored: other writers fill the store as fast as room is made in it",
      hint: "try again")
  }
}
