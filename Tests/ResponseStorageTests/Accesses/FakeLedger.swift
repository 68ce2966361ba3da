import FetchVocabulary
import CacheCore

/// A ledger that holds the given counts, or fails.
struct FakeLedger: OperationLedger {
  var counts = OperationCounts()
  var error: CacheError?

  func add(_ counts: OperationCounts) throws(CacheError) {
    if let error { throw error }
  }

  func totals() throws(CacheError) -> OperationCounts {
    if let error { throw error }
    return counts
  }
}
