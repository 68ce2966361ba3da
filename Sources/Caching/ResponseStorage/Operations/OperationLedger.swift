public import FetchVocabulary
internal import Synchronization

/// Keeps the total counts of all processes that use a store.
public protocol OperationLedger: Sendable {
  /// Adds to the totals. Keeps what several processes add at the same time.
  func add(_ counts: OperationCounts) throws(CacheError)

  /// The totals.
  func totals() throws(CacheError) -> OperationCounts
}

/// Keeps the totals in memory, for stores that live no longer than the process.
public final class MemoryOperationLedger: OperationLedger {
  private let sums = Mutex(OperationCounts())

  /// Creates a ledger at zero.
  public init() {}

  /// Adds to the totals.
  public func add(_ counts: OperationCounts) throws(CacheError) { sums.withLock { $0 = $0 + counts } }

  /// The totals.
  public func totals() throws(CacheError) -> OperationCounts { sums.withLock { $0 } }
}
