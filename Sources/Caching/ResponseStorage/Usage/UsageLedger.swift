public import FetchVocabulary
internal import Synchronization

/// Keeps the total counts of all processes that use a store.
public protocol UsageLedger: Sendable {
  /// Adds to the totals. Keeps what several processes add at the same time.
  func add(_ counts: UsageCounts) throws(CacheError)

  /// The totals.
  func totals() throws(CacheError) -> UsageCounts
}

/// Keeps the totals in memory, for stores that live no longer than the process.
public final class MemoryUsageLedger: UsageLedger {
  private let sums = Mutex(UsageCounts())

  /// Creates a ledger at zero.
  public init() {}

  /// Adds to the totals.
  public func add(_ counts: UsageCounts) throws(CacheError) { sums.withLock { $0 = $0 + counts } }

  /// The totals.
  public func totals() throws(CacheError) -> UsageCounts { sums.withLock { $0 } }
}
