public import CachectlTool

extension EvictionPolicy {
  /// `cache.eviction` of `largest-first`: a large entry is evicted before many small ones.
  public static let largestFirst = EvictionPolicy("largest-first", "the entry with the most bytes") { candidate, _ in
    EvictionRank(-Int64(candidate.payloadBytes), candidate.storedAt)
  }
}
