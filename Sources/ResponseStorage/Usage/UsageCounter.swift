internal import Synchronization

/// Counts how often the cache answered. It counts in memory: reading never writes; `take()` is called now and then to
/// add what was counted to a `UsageLedger`.
public final class UsageCounter: Sendable {
  private let counts = Mutex(UsageCounts())

  /// A counter at zero.
  public init() {}

  /// Counts a look-up that found an entry, or did not.
  func record(hit: Bool) {
    counts.withLock { counts in
      if hit { counts.hits += 1 } else { counts.misses += 1 }
    }
  }

  /// Counts entries that were of use and were removed all the same, to keep the store within its bounds.
  func record(evictions: Int) {
    counts.withLock { $0 = $0 + UsageCounts(evictions: evictions) }
  }

  /// What was counted since `take()` was called last.
  public var current: UsageCounts { counts.withLock { $0 } }

  /// What was counted since the last call.
  public func take() -> UsageCounts {
    counts.withLock { counts in
      defer { counts = UsageCounts() }
      return counts
    }
  }
}

/// How often a cache was used.
public struct UsageCounts: Sendable, Hashable {
  /// Look-ups that found an entry, fresh or stale.
  public var hits = 0
  /// Look-ups that found none.
  public var misses = 0
  /// Entries that had not expired, removed to keep the cache within its bounds.
  public var evictions = 0

  /// Counts with the given numbers, none of them negative.
  public init(hits: Int = 0, misses: Int = 0, evictions: Int = 0) {
    self.hits = hits
    self.misses = misses
    self.evictions = evictions
  }

  /// The sum of two counts; it stops at the largest number instead of overflowing.
  public static func + (left: UsageCounts, right: UsageCounts) -> UsageCounts {
    UsageCounts(
      hits: left.hits.saturatingSum(right.hits), misses: left.misses.saturatingSum(right.misses),
      evictions: left.evictions.saturatingSum(right.evictions))
  }
}

extension FixedWidthInteger {
  /// The sum with a number that is not negative; it stops at the largest number instead of overflowing.
  func saturatingSum(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
