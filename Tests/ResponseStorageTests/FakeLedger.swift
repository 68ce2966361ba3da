import CacheDomain
import ResponseStorage

/// A ledger that holds the given counts, or fails.
struct FakeLedger: UsageLedger {
  var counts = UsageCounts()
  var error: CacheError?

  func add(_ counts: UsageCounts) throws(CacheError) {
    if let error { throw error }
  }

  func totals() throws(CacheError) -> UsageCounts {
    if let error { throw error }
    return counts
  }
}
