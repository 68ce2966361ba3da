public import FetchVocabulary
internal import Synchronization

/// Counts hits, misses and evictions. It counts in memory, because reading never writes; from time to time a caller of
/// `take()` adds the counts to an `OperationLedger`.
public final class OperationCounter: Sendable {
  private let counts = Mutex(OperationCounts())

  /// Creates a counter at zero.
  public init() {}

  /// Counts a look-up as a hit or a miss.
  func record(hit: Bool) {
    counts.withLock { counts in
      if hit { counts.hits += 1 } else { counts.misses += 1 }
    }
  }

  /// Counts unexpired entries that were evicted to keep the store within its limits.
  func record(evictions: Int) {
    counts.withLock { $0 = $0 + OperationCounts(evictions: evictions) }
  }

  /// The counts since the last call of `take()`.
  public var current: OperationCounts { counts.withLock { $0 } }

  /// Returns the counts since the last call, and starts again at zero.
  public func take() -> OperationCounts {
    counts.withLock { counts in
      defer { counts = OperationCounts() }
      return counts
    }
  }
}

/// How many look-ups hit or missed, and how many entries were evicted.
public struct OperationCounts: Sendable, Hashable {
  /// Look-ups that found an entry, fresh or stale.
  public var hits = 0
  /// Look-ups that found no entry.
  public var misses = 0
  /// Unexpired entries that were evicted to keep the cache within its limits.
  public var evictions = 0

  /// Creates counts; none may be negative.
  public init(hits: Int = 0, misses: Int = 0, evictions: Int = 0) {
    self.hits = hits
    self.misses = misses
    self.evictions = evictions
  }

  /// The sum of two counts, limited to the largest number.
  public static func + (left: OperationCounts, right: OperationCounts) -> OperationCounts {
    OperationCounts(
      hits: left.hits.saturatingSum(right.hits), misses: left.misses.saturatingSum(right.misses),
      evictions: left.evictions.saturatingSum(right.evictions))
  }
}

extension FixedWidthInteger {
  /// The sum with a number that is not negative, limited to the largest number.
  func saturatingSum(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}

/// Keeps the total counts of all processes that use a store.
public protocol OperationLedger: Sendable {
  /// Adds to the totals. Keeps what several processes add at the same time.
  func add(_ counts: OperationCounts) throws(CacheError)

  /// The totals.
  func totals() throws(CacheError) -> OperationCounts
}

/// Keeps the totals in memory, for stores that live no longer than the process.
public final class MemoryOperationLedger: OperationLedger {
  private let sums: Mutex<OperationCounts>

  /// Creates a ledger that begins with `counts`.
  public init(_ counts: OperationCounts = OperationCounts()) { sums = Mutex(counts) }

  /// Adds to the totals.
  public func add(_ counts: OperationCounts) throws(CacheError) { sums.withLock { $0 = $0 + counts } }

  /// The totals.
  public func totals() throws(CacheError) -> OperationCounts { sums.withLock { $0 } }
}
