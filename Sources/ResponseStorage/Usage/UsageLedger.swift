public import CacheDomain

/// Keeps the sums of what was counted, over all processes that use a store.
public protocol UsageLedger: Sendable {
  /// Adds to the sums. Counts added by several processes at once are all there afterwards.
  func add(_ counts: UsageCounts) throws(CacheError)

  /// The sums.
  func totals() throws(CacheError) -> UsageCounts
}
