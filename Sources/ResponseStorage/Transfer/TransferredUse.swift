public import CacheDomain
public import StorageSPI

/// How an entry was used, as it travels with the entry from one store to another.
public struct TransferredUse: Sendable, Hashable {
  /// How often the entry answered, 0 or more.
  public let count: Int
  /// When it answered last.
  public let lastUsedAt: Timestamp

  /// A use with the given fields.
  public init(count: Int, lastUsedAt: Timestamp) {
    self.count = count
    self.lastUsedAt = lastUsedAt
  }
}

/// What keeps the use of a store's entries, as far as a transfer needs it.
public protocol TransferredUses: Sendable {
  /// The use of those of the entries under `keys` of which it is known.
  ///
  /// - Throws: `CacheError`: it cannot be read.
  func uses(of keys: [CacheKey]) async throws(CacheError) -> [CacheKey: TransferredUse]

  /// Raises the use of each entry to at least what is given: the larger count, and the later time.
  ///
  /// Nothing is added up, so that a transfer which is done twice, because the first was interrupted, counts once.
  ///
  /// - Throws: `CacheError`: it cannot be written.
  func raise(_ uses: [CacheKey: TransferredUse]) async throws(CacheError)
}
