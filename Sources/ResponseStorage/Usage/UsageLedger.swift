public import CacheDomain
internal import Synchronization

/// Keeps the sums of what was counted, over all processes that use a store.
public protocol UsageLedger: Sendable {
  /// Adds to the sums. Counts added by several processes at once are all there afterwards.
  func add(_ counts: UsageCounts) throws(CacheError)

  /// The sums.
  func totals() throws(CacheError) -> UsageCounts
}

/// Keeps the sums for as long as the process lives, for stores that do not live longer either.
public final class MemoryUsageLedger: UsageLedger {
  private let sums = Mutex(UsageCounts())

  /// A ledger of zeros.
  public init() {}

  /// Adds to the sums.
  public func add(_ counts: UsageCounts) throws(CacheError) { sums.withLock { $0 = $0 + counts } }

  /// The sums.
  public func totals() throws(CacheError) -> UsageCounts { sums.withLock { $0 } }
}
